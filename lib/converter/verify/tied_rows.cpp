// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/tied_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/converter/verify/accumulator.h"

namespace nnapi_convert {
namespace {

constexpr size_t kMostPairs = 4'000'000;

// The outputs that one output of scores orders row by row: the numbers of the scores and of outputs with a value for
// each row.
struct ScoredOutputs {
  size_t scores;
  std::vector<size_t> values;
};

// Returns the scores as [lists, rows]: each list has an order of its own.
at::Tensor in_lists(const at::Tensor& scores) {
  return real_values(scores).reshape({-1, scores.size(-1)});
}

bool is_ordered(const at::Tensor& tensor) {
  const bool has_order = tensor.dim() > 0 && tensor.size(-1) > 1 && tensor.numel() > 0 &&
                         (tensor.is_floating_point() || tensor.is_quantized());
  if (!has_order) return false;
  const at::Tensor lists = in_lists(tensor);
  const int64_t rows = lists.size(1);
  const bool varies = lists.max().item().toDouble() > lists.min().item().toDouble();
  return varies && lists.isfinite().all().item().toBool() &&
         lists.narrow(1, 0, rows - 1).ge(lists.narrow(1, 1, rows - 1)).all().item().toBool();
}

// Returns the sizes without leading axes of one element.
std::vector<int64_t> without_ones(at::IntArrayRef sizes) {
  size_t begin = 0;
  while (begin + 1 < sizes.size() && sizes[begin] == 1) ++begin;
  return sizes.slice(begin).vec();
}

bool has_value_for_each(const at::Tensor& scores, const at::Tensor& values) {
  const std::vector<int64_t> rows = without_ones(scores.sizes()), all = without_ones(values.sizes());
  return all.size() >= rows.size() && std::equal(rows.begin(), rows.end(), all.begin());
}

size_t distance_between(size_t one, size_t other) {
  return one > other ? one - other : other - one;
}

// Finds the scores of each output. In results for several pictures, an output belongs to the nearest scores of as many
// rows; of two as near, to those before it.
std::vector<ScoredOutputs> scored_outputs(const Tensors& expected, const Tensors& found) {
  std::vector<ScoredOutputs> groups;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (is_ordered(expected[i]) && is_ordered(found[i])) groups.push_back({i, {}});
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ScoredOutputs* nearest = nullptr;
    for (ScoredOutputs& group : groups) {
      const bool fits = group.scores != i && has_value_for_each(expected[group.scores], expected[i]) &&
                        has_value_for_each(found[group.scores], found[i]);
      const bool is_nearer =
          nearest == nullptr || distance_between(group.scores, i) < distance_between(nearest->scores, i);
      if (fits && is_nearer) nearest = &group;
    }
    if (nearest != nullptr) nearest->values.push_back(i);
  }
  groups.erase(
      std::remove_if(groups.begin(), groups.end(), [](const ScoredOutputs& group) { return group.values.empty(); }),
      groups.end());
  return groups;
}

// The numbers of one output in one list, row after row.
struct RowValues {
  std::vector<double> expected, found;
  size_t columns = 0;
  double most_apart = 0;  // limit for partners; integers have to be the same
};

struct ScoreList {
  std::vector<double> expected, found;
  double tie = 0;
};

struct Pair {
  size_t expected, found;
  double distance;
};

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  const double* data = flat.data_ptr<double>();
  return {data, data + flat.numel()};
}

double tie_of(const at::Tensor& scores, const TieRule& rule) {
  if (rule.by_size) return rule.scores * std::sqrt(scores.square().mean().item().toDouble());
  return rule.scores * (scores.max() - scores.min()).item().toDouble();
}

// Returns how far two rows are from each other, as a share of what partners may be; above 1 for rows that are none.
double distance_of(const std::vector<RowValues>& values, size_t expected, size_t found) {
  double largest = 0;
  for (const RowValues& output : values) {
    for (size_t i = 0; i < output.columns; ++i) {
      const double one = output.expected[expected * output.columns + i],
                   other = output.found[found * output.columns + i];
      if (one == other) continue;
      if (!(output.most_apart > 0)) return HUGE_VAL;
      largest = std::max(largest, std::abs(one - other) / output.most_apart);
    }
  }
  return largest;
}

constexpr size_t kNoPartner = static_cast<size_t>(-1);

// Returns the partner of each row; nothing where there are too many pairs to look at.
std::optional<std::vector<size_t>> partners_of(const ScoreList& scores, const std::vector<RowValues>& values) {
  std::vector<Pair> pairs;
  size_t looked_at = 0;
  for (size_t i = 0; i < scores.expected.size(); ++i) {
    for (size_t j = 0; j < scores.found.size(); ++j) {
      if (std::abs(scores.expected[i] - scores.found[j]) > scores.tie) continue;
      if (++looked_at > kMostPairs) return std::nullopt;
      const double distance = distance_of(values, i, j);
      if (distance <= 1) pairs.push_back({i, j, distance});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::vector<size_t> partners(scores.expected.size(), kNoPartner);
  std::vector<bool> is_taken(scores.found.size(), false);
  for (const Pair& pair : pairs) {
    if (partners[pair.expected] != kNoPartner || is_taken[pair.found]) continue;
    partners[pair.expected] = pair.found;
    is_taken[pair.found] = true;
  }
  return partners;
}

TiedRows counted_rows(const ScoreList& scores, const std::vector<size_t>& partners) {
  TiedRows rows;
  rows.rows = partners.size();
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] != kNoPartner) {
      rows.moved += partners[i] == i ? 0 : 1;
    } else {
      const bool is_lowest = scores.expected[i] - scores.expected.back() <= scores.tie;
      (is_lowest ? rows.at_the_cut : rows.without_partner) += 1;
    }
  }
  return rows;
}

// Returns the found results in the order of the expected ones.
at::Tensor in_order(const at::Tensor& expected, const at::Tensor& found,
                    const std::vector<std::vector<size_t>>& partners) {
  const at::Tensor wanted = expected.is_quantized() ? expected.dequantize() : expected;
  const auto lists = static_cast<int64_t>(partners.size()), rows = static_cast<int64_t>(partners[0].size());
  at::Tensor result = wanted.clone().reshape({lists, rows, -1});
  const at::Tensor given = (found.is_quantized() ? found.dequantize() : found).reshape({lists, -1, result.size(2)});
  for (int64_t list = 0; list < lists; ++list) {
    for (int64_t row = 0; row < rows; ++row) {
      const size_t partner = partners[static_cast<size_t>(list)][static_cast<size_t>(row)];
      if (partner != kNoPartner) result[list][row].copy_(given[list][static_cast<int64_t>(partner)]);
    }
  }
  return result.reshape(wanted.sizes()).to(found.is_quantized() ? wanted.scalar_type() : found.scalar_type());
}

// Returns the scores in the order in which they were found. If the two models found other numbers of rows, the first
// rows are compared.
at::Tensor first_scores(const at::Tensor& expected, const at::Tensor& found) {
  if (expected.sizes() == found.sizes()) return found;
  const at::Tensor given = found.is_quantized() ? found.dequantize() : found;
  at::Tensor result = (expected.is_quantized() ? expected.dequantize() : expected).clone();
  const int64_t both = std::min(result.size(-1), given.size(-1));
  result.narrow(-1, 0, both).copy_(given.narrow(-1, 0, both));
  return result.to(given.scalar_type());
}

std::optional<TiedRows> match_group(const ScoredOutputs& group, const Tensors& expected, Tensors& found,
                                    const TieRule& rule) {
  const at::Tensor scores = in_lists(expected[group.scores]), other_scores = in_lists(found[group.scores]);
  if (scores.size(0) != other_scores.size(0)) return std::nullopt;
  if (scores.size(1) != other_scores.size(1) && !rule.may_count_otherwise) return std::nullopt;
  const int64_t lists = scores.size(0);
  const double tie = tie_of(scores, rule);
  TiedRows all;
  std::vector<std::vector<size_t>> partners;
  for (int64_t list = 0; list < lists; ++list) {
    const ScoreList of_list{numbers_of(scores[list]), numbers_of(other_scores[list]), tie};
    std::vector<RowValues> values;
    for (const size_t output : group.values) {
      const at::Tensor one = real_values(expected[output]), other = real_values(found[output]);
      const double range = (one.max() - one.min()).item().toDouble();
      const bool is_integer = c10::isIntegralType(expected[output].scalar_type(), true);
      const at::Tensor rows = one.reshape({lists, scores.size(1), -1});
      values.push_back({numbers_of(rows[list]), numbers_of(other.reshape({lists, other_scores.size(1), -1})[list]),
                        static_cast<size_t>(rows.size(2)), is_integer ? 0 : rule.values * range});
    }
    auto found_partners = partners_of(of_list, values);
    if (!found_partners) return std::nullopt;
    all.add(counted_rows(of_list, *found_partners));
    partners.push_back(std::move(*found_partners));
  }
  for (const size_t output : group.values) found[output] = in_order(expected[output], found[output], partners);
  found[group.scores] = first_scores(expected[group.scores], found[group.scores]);
  return all;
}

}  // namespace

void TiedRows::add(const TiedRows& other) {
  rows += other.rows;
  moved += other.moved;
  at_the_cut += other.at_the_cut;
  without_partner += other.without_partner;
}

bool TiedRows::are_matched() const {
  constexpr double kFewestPartners = 0.5, kMostWithout = 0.1;
  const auto count = static_cast<double>(rows);
  return static_cast<double>(without_partner) <= kMostWithout * count &&
         static_cast<double>(rows - at_the_cut - without_partner) >= kFewestPartners * count;
}

std::optional<TiedRows> match_rows(const Tensors& expected, Tensors& found, const TieRule& rule) {
  if (expected.size() != found.size()) return std::nullopt;
  Tensors matched = found;
  std::optional<TiedRows> all;
  for (const ScoredOutputs& group : scored_outputs(expected, found)) {
    const auto rows = match_group(group, expected, matched, rule);
    if (!rows) return std::nullopt;
    if (!all) all.emplace();
    all->add(*rows);
  }
  if (all) found = std::move(matched);
  return all;
}

}  // namespace nnapi_convert
