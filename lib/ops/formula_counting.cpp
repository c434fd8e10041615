// SPDX-License-Identifier: BSD-3-Clause
// Elements counted or weighed in groups that the model computes: histograms, reductions of segments, covariances.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

constexpr int64_t kMostPairs = int64_t{1} << 22;  // pairs of an element and a group, each a float32 in memory
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_few(int64_t pairs) {
  if (pairs <= kMostPairs) return;
  throw FormulaRefused(fmt::format("{} pairs of elements and groups", pairs), fmt::format("{} at most", kMostPairs),
                       "NNAPI has no such operation, and comparing all is slow");
}

// Returns the numbers 0, 1, 2...
Tensor numbered(int64_t count) {
  return constant_of([&] { return at::arange(count, at::kFloat); });
}

// Computes the edges from both ends, as at::linspace does.
Tensor edges_between(const Tensor& least, const Tensor& greatest, int64_t bins) {
  const Tensor step = (greatest - least) / static_cast<double>(bins);
  const Tensor places = numbered(bins + 1);
  const Tensor is_first_half = constant_of([&] { return at::lt(places, (bins + 1) / 2); });
  const Tensor left = constant_of([&] { return static_cast<double>(bins) - places; });
  return at::where(is_first_half, least + step * places, greatest - step * left);
}

// Returns the edges of equal bins over `range`, or over the vector's own range.
Tensor even_edges(const Tensor& x, int64_t bins, const double* range) {
  if (bins < 1) throw FormulaRefused(fmt::format("{} bins", bins), "1 or more");
  if (range != nullptr) return constant_of([&] { return at::linspace(range[0], range[1], bins + 1); });
  const Tensor least = x.amin({0}), greatest = x.amax({0});
  const Tensor margin = at::eq(least, greatest).to(at::kFloat) * 0.5;
  return edges_between((least - margin).unsqueeze(0), (greatest + margin).unsqueeze(0), bins);
}

// Returns [elements, bins]: 1 for each element's bin. The last bin includes its right edge.
Tensor members_of(const Tensor& x, const Tensor& edges) {
  const int64_t bins = edges.size(0) - 1;
  require_few(x.size(0) * (bins + 1));
  const Tensor is_from = at::ge(x.unsqueeze(1), edges.unsqueeze(0)).to(at::kFloat);
  const Tensor is_beyond = at::gt(x, edges.narrow(0, bins, 1)).to(at::kFloat).unsqueeze(1);
  if (bins == 1) return is_from.narrow(1, 0, 1) - is_beyond;
  return is_from.narrow(1, 0, bins) - at::cat({is_from.narrow(1, 1, bins - 1), is_beyond}, 1);
}

// Returns members_of() for edges that the model computes and that need not be sorted: at::histogram looks for an
// element's bin with std::upper_bound, whose steps this follows. Each step doubles the columns, which are 1 for an
// element whose search has come to the column's part of the edges.
Tensor searched_members_of(const Tensor& x, const Tensor& edges) {
  struct Part {
    int64_t first, count;  // a count of 0: the search ends here; below 0: none comes here
  };
  const int64_t bins = edges.size(0) - 1;
  require_few(2 * x.size(0) * (bins + 1));
  const Tensor column = x.unsqueeze(1);
  const Tensor is_from = at::ge(column, edges.unsqueeze(0)).to(at::kFloat);
  const Tensor is_within = at::logical_and(at::ge(x, edges.narrow(0, 0, 1)), at::le(x, edges.narrow(0, bins, 1)));
  Tensor found = is_within.to(at::kFloat).unsqueeze(1);
  std::vector<Part> parts = {{0, bins + 1}};
  const auto is_searched = [](const Part& part) { return part.count > 0; };
  while (std::any_of(parts.begin(), parts.end(), is_searched)) {
    std::vector<int64_t> middles;
    std::vector<float> halves;
    std::vector<Part> next;
    for (const Part& part : parts) {
      const int64_t half = part.count / 2;
      middles.push_back(std::min(part.first + half, bins));
      halves.push_back(is_searched(part) ? 1.0F : 0.0F);
      next.push_back({part.first, is_searched(part) ? half : part.count});
      next.push_back({part.first + half + 1, part.count - half - 1});
    }
    const Tensor goes_on = is_from.index_select(1, constant_of([&] { return at::tensor(middles); }));
    const Tensor later = found * goes_on * constant_of([&] { return at::tensor(halves); });
    found = at::stack({found - later, later}, 2).reshape({x.size(0), static_cast<int64_t>(next.size())});
    parts = next;
  }
  // An element that comes to the place after an edge is in the edge's bin, and in the last one after the last edge.
  std::vector<int64_t> places(static_cast<size_t>(bins + 2));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].count == 0) places[static_cast<size_t>(parts[i].first)] = static_cast<int64_t>(i);
  }
  found = found.index_select(1, constant_of([&] { return at::tensor(places); }));
  const Tensor last = found.narrow(1, bins, 1) + found.narrow(1, bins + 1, 1);
  return bins == 1 ? last : at::cat({found.narrow(1, 1, bins - 1), last}, 1);
}

Tensor widths_of(const Tensor& edges) {
  const int64_t bins = edges.size(0) - 1;
  return edges.narrow(0, 1, bins) - edges.narrow(0, 0, bins);
}

std::optional<std::vector<double>> range_of(const FormulaArguments& args) {
  return args.is_none("range") ? std::nullopt : std::optional(args.value("range").toDoubleVector());
}

std::vector<Formed> histogram(const FormulaArguments& args) {
  const Tensor x = args.tensor("self").reshape({-1});
  const auto range = range_of(args);
  const bool is_even = args.has("range");
  const Tensor edges =
      is_even ? even_edges(x, args.integer("bins"), range ? range->data() : nullptr) : args.tensor("bins");
  Tensor members = is_even ? members_of(x, edges) : searched_members_of(x, edges);
  if (!args.is_none("weight")) members = members * args.tensor("weight").reshape({-1, 1});
  const Tensor counts = members.sum({0});
  if (!args.boolean("density")) return {counts, edges};
  return {counts / (counts.sum({0}, true) * widths_of(edges)), edges};
}

// Counts points: the last axis has a point's coordinates, whose bins are combined.
std::vector<Formed> histogramdd(const FormulaArguments& args) {
  const Tensor self = args.tensor("self");
  const Tensor points = self.reshape({-1, self.size(-1)});
  const std::vector<int64_t> bins = args.integers("bins");
  const auto range = range_of(args);
  if (static_cast<int64_t>(bins.size()) != points.size(1)) {
    throw FormulaRefused(fmt::format("{} numbers of bins of {} numbers", bins.size(), points.size(1)), "as many");
  }
  require_few(points.size(0) * c10::multiply_integers(bins));
  Tensor members, volumes;
  std::vector<Tensor> all_edges;
  for (size_t i = 0; i < bins.size(); ++i) {
    const Tensor x = points.select(1, static_cast<int64_t>(i));
    const Tensor edges = even_edges(x, bins[i], range ? range->data() + 2 * i : nullptr);
    const Tensor found = members_of(x, edges), widths = widths_of(edges);
    members = i == 0 ? found : (members.unsqueeze(2) * found.unsqueeze(1)).reshape({points.size(0), -1});
    volumes = i == 0 ? widths : (volumes.unsqueeze(1) * widths).reshape({-1});
    all_edges.push_back(edges);
  }
  if (!args.is_none("weight")) members = members * args.tensor("weight").reshape({-1, 1});
  Tensor counts = members.sum({0});
  if (args.boolean("density")) counts = counts / (counts.sum({0}, true) * volumes);
  return {counts.reshape(bins), Formed(all_edges)};
}

bool is_float_self(const OpArguments& args) {
  return args.tensor("self").dtype == at::kFloat;
}

struct Segments {
  Tensor begins, ends;  // [before, segments]
};

Segments segments_of(const FormulaArguments& args) {
  if (!args.is_none("lengths")) {
    const Tensor lengths = args.tensor("lengths").to(at::kFloat);
    const Tensor ends = lengths.cumsum(-1);
    return {ends - lengths, ends};
  }
  const Tensor offsets = args.tensor("offsets").to(at::kFloat);
  const int64_t count = offsets.size(-1) - 1;
  return {offsets.narrow(-1, 0, count), offsets.narrow(-1, 1, count)};
}

struct SegmentReduction {
  double neutral;
  Tensor (*reduce)(const Tensor&);  // along axis 2
  Tensor (*combine)(const Tensor&, double);
};

SegmentReduction reduction_of(const std::string& name) {
  const auto sum = [](const Tensor& x) { return x.sum({2}); };
  const auto plus = [](const Tensor& x, double initial) { return x + initial; };
  if (name == "sum" || name == "mean") return {0, sum, plus};
  if (name == "max") {
    return {-kInfinity, [](const Tensor& x) { return x.amax({2}); },
            [](const Tensor& x, double initial) { return at::clamp_min(x, initial); }};
  }
  if (name == "min") {
    return {kInfinity, [](const Tensor& x) { return x.amin({2}); },
            [](const Tensor& x, double initial) { return at::clamp_max(x, initial); }};
  }
  if (name != "prod") throw FormulaRefused("reduce=" + name, "sum, mean, max, min or prod");
  return {1, [](const Tensor& x) { return x.prod(2); }, [](const Tensor& x, double initial) { return x * initial; }};
}

// Reduces each segment of the axis: masks all elements as [before, segments, elements, behind].
std::vector<Formed> segment_reduce(const FormulaArguments& args) {
  const Tensor data = args.tensor("data");
  const int64_t axis = args.integer("axis") < 0 ? args.integer("axis") + data.dim() : args.integer("axis");
  const Segments segments = segments_of(args);
  const int64_t size = data.size(axis), count = segments.begins.size(-1);
  const std::vector<int64_t> before = data.sizes().slice(0, static_cast<size_t>(axis)).vec();
  const std::vector<int64_t> behind = data.sizes().slice(static_cast<size_t>(axis) + 1).vec();
  require_few(data.numel() * count);
  const int64_t rows = c10::multiply_integers(before), width = c10::multiply_integers(behind);
  const Tensor places = numbered(size);
  const auto column = [&](const Tensor& borders) { return borders.reshape({rows, count, 1}); };
  const Tensor is_member =
      at::logical_and(at::ge(places, column(segments.begins)), at::lt(places, column(segments.ends)));
  const std::string name = args.value("reduce").toStringRef();
  const SegmentReduction reduction = reduction_of(name);
  const Tensor neutral = constant_of([&] { return at::full({1}, reduction.neutral); });
  const Tensor all = data.reshape({rows, 1, size, width});
  Tensor result = reduction.reduce(at::where(is_member.unsqueeze(3), all, neutral));
  if (!args.is_none("initial")) result = reduction.combine(result, args.number("initial"));
  if (name == "mean") {
    Tensor lengths = column(segments.ends) - column(segments.begins);
    if (!args.is_none("initial")) lengths = at::clamp_min(lengths, 1);
    result = result / lengths;  // without an initial value no number, for no elements
  }
  std::vector<int64_t> sizes = before;
  sizes.push_back(count);
  sizes.insert(sizes.end(), behind.begin(), behind.end());
  return {result.reshape(sizes)};
}

bool is_float_data(const OpArguments& args) {
  return args.tensor("data").dtype == at::kFloat;
}

bool is_weighted(const OpArguments& args) {
  return !args.is_none("fweights") || !args.is_none("aweights");
}

Tensor weights_of(const FormulaArguments& args) {
  const Tensor counts = args.optional("fweights"), shares = args.optional("aweights");
  if (!counts.defined()) return shares;
  return shares.defined() ? counts.to(at::kFloat) * shares : counts.to(at::kFloat);
}

// cov with weights: fweights says how often an observation counts, aweights how much.
std::vector<Formed> cov(const FormulaArguments& args) {
  Tensor x = args.tensor("self").to(at::kFloat);
  if (x.dim() < 2) x = x.reshape({1, -1});
  const Tensor weights = weights_of(args).reshape({-1});
  const Tensor total = weights.sum({0});
  const auto correction = static_cast<double>(args.integer("correction"));
  const Tensor off = x - (x * weights).sum({1}, true) / total;
  Tensor factor = total - correction;
  if (!args.is_none("aweights")) {
    factor = total - (weights * args.tensor("aweights").reshape({-1})).sum({0}) / total * correction;
  }
  const Tensor products = at::matmul(off, (off * weights).transpose(0, 1));
  const Tensor result = products / at::clamp_min(factor, 0);
  return {x.size(0) == 1 ? result.reshape({}) : result};
}

}  // namespace

Formulas counting_formulas() {
  return {
      {"aten::histogram.bin_ct", is_float_self, histogram},
      {"aten::histogram.bins_tensor", is_float_self, histogram},
      {"aten::histogramdd", is_float_self, histogramdd},
      {"aten::segment_reduce", is_float_data, segment_reduce},
      {"aten::cov", is_weighted, cov},
  };
}

}  // namespace nnapi_convert
