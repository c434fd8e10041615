// SPDX-License-Identifier: BSD-3-Clause
// The QR decomposition of small matrices by Householder's reflections, and products with its packed reflections,
// unrolled: as many steps as a matrix has rows or columns.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/formulas.h"
#include "lib/ops/matrix_steps.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// The reflection I - factor * axis * axis^T.
struct Reflection {
  Tensor axis;    // [batch, rows, 1]
  Tensor factor;  // [batch, 1, 1]

  Tensor of(const Tensor& x) const { return x - axis * factor * (axis * x).sum({-2}, true); }
};

// Returns a reflection's axis of `rows` elements: zeros up to place k, 1 there, and `below` behind it.
Tensor axis_from(const Tensor& below, int64_t k, int64_t rows) {
  const Tensor unit = constant_of([&] { return at::eye(rows).narrow(1, k, 1).contiguous(); });
  return below.defined() ? at::constant_pad_nd(below, {0, 0, k + 1, 0}, 0) + unit : unit;
}

struct Step {
  Reflection reflection;
  Tensor corner;  // the column's remaining element, [batch, 1, 1]
  Tensor below;   // the axis below its 1; undefined for none
};

// Makes a reflection as LAPACK's larfg does: none if all elements below the corner are 0.
Step step_of(const Tensor& x, int64_t k) {
  const int64_t rows = x.size(-2);
  const Tensor corner = x.narrow(-1, k, 1).narrow(-2, k, 1);
  if (k + 1 == rows) return {{axis_from(Tensor(), k, rows), corner * 0}, corner, Tensor()};
  const Tensor below = x.narrow(-1, k, 1).narrow(-2, k + 1, rows - k - 1);
  const Tensor rest = (below * below).sum({-2}, true);
  const Tensor is_done = at::eq(rest, 0).to(at::kFloat);
  const Tensor sign = 1 - at::lt(corner, 0).to(at::kFloat) * 2;
  const Tensor reflected = -sign * at::sqrt(corner * corner + rest);
  const Tensor axis = below / (corner - reflected + is_done);
  const Tensor factor = (reflected - corner) / (reflected + is_done) * (1 - is_done);
  return {{axis_from(axis, k, rows), factor}, corner * is_done + reflected * (1 - is_done), axis};
}

struct Reflections {
  Tensor upper;  // [batch, rows, columns]: R, and below the diagonal what the reflections leave there
  std::vector<Step> steps;
};

Reflections reflect(const Tensor& matrix) {
  Reflections result{matrix, {}};
  const int64_t count = few_rows(matrix, std::min(matrix.size(-2), matrix.size(-1)));
  for (int64_t k = 0; k < count; ++k) {
    result.steps.push_back(step_of(result.upper, k));
    result.upper = result.steps.back().reflection.of(result.upper);
  }
  return result;
}

// Returns the first columns of the product of all reflections.
Tensor product(const std::vector<Reflection>& reflections, const Tensor& like, int64_t columns) {
  std::vector<int64_t> sizes = like.sizes().vec();
  sizes.back() = columns;
  Tensor result = constant_of([&] { return at::eye(like.size(-2), columns).expand(sizes).contiguous(); });
  for (size_t k = reflections.size(); k-- > 0;) result = reflections[k].of(result);
  return result;
}

std::vector<Formed> qr(const FormulaArguments& args) {
  const Tensor a = args.first().real;
  const std::string mode = args.has("mode")       ? args.value("mode").toStringRef()
                           : args.boolean("some") ? "reduced"
                                                  : "complete";
  if (mode == "r") throw FormulaRefused("mode=r, whose Q has no elements", "reduced or complete");
  const Reflections found = reflect(a);
  const int64_t rows = mode == "complete" ? a.size(-2) : std::min(a.size(-2), a.size(-1));
  std::vector<Reflection> reflections;
  for (const Step& step : found.steps) reflections.push_back(step.reflection);
  return {product(reflections, a, rows), at::triu(found.upper.narrow(-2, 0, rows))};
}

// geqrf: R with the reflections' axes below its diagonal, and their factors.
std::vector<Formed> geqrf(const FormulaArguments& args) {
  const Tensor a = args.tensor("self");
  const Reflections found = reflect(a);
  std::vector<Tensor> columns, factors;
  for (size_t i = 0; i < found.steps.size(); ++i) {
    const Step& step = found.steps[i];
    const auto k = static_cast<int64_t>(i);
    std::vector<Tensor> parts;
    if (k > 0) parts.push_back(found.upper.narrow(-1, k, 1).narrow(-2, 0, k));
    parts.push_back(step.corner);
    if (step.below.defined()) parts.push_back(step.below);
    columns.push_back(parts.size() == 1 ? parts[0] : at::cat(parts, -2));
    factors.push_back(step.reflection.factor);
  }
  const auto done = static_cast<int64_t>(columns.size());
  if (done < a.size(-1)) columns.push_back(found.upper.narrow(-1, done, a.size(-1) - done));
  const auto joined = [](const std::vector<Tensor>& parts) {
    return parts.size() == 1 ? parts[0] : at::cat(parts, -1);
  };
  return {joined(columns), joined(factors).squeeze(-2)};
}

std::vector<Reflection> unpacked(const Tensor& packed, const Tensor& factors) {
  const int64_t rows = packed.size(-2), count = few_rows(packed, factors.size(-1));
  std::vector<Reflection> result;
  for (int64_t k = 0; k < count; ++k) {
    const Tensor below = k + 1 < rows ? packed.narrow(-1, k, 1).narrow(-2, k + 1, rows - k - 1) : Tensor();
    result.push_back({axis_from(below, k, rows), factors.narrow(-1, k, 1).unsqueeze(-1)});
  }
  return result;
}

std::vector<Formed> householder_product(const FormulaArguments& args) {
  const Tensor packed = args.first().real;
  const Tensor factors = args.tensor(args.has("tau") ? "tau" : "input2");
  return {product(unpacked(packed, factors), packed, packed.size(-1))};
}

// ormqr: each reflection is its own transpose, so the transposed product has them in reverse order.
std::vector<Formed> ormqr(const FormulaArguments& args) {
  const Tensor packed = args.tensor("self");
  std::vector<Reflection> reflections = unpacked(packed, args.tensor("input2"));
  const bool is_left = args.boolean("left");
  Tensor result = args.tensor("input3");
  if (!is_left) result = result.transpose(-2, -1);
  if (args.boolean("transpose") != is_left) std::reverse(reflections.begin(), reflections.end());
  for (const Reflection& each : reflections) result = each.of(result);
  return {is_left ? result : result.transpose(-2, -1)};
}

}  // namespace

Formulas reflection_formulas() {
  return {
      {"aten::qr", is_float_matrix, qr},
      {"aten::linalg_qr", is_float_matrix, qr},
      {"aten::geqrf", is_float_matrix, geqrf},
      {"aten::linalg_householder_product", is_float_matrix, householder_product},
      {"aten::orgqr", is_float_matrix, householder_product},
      {"aten::ormqr", is_float_matrix, ormqr},
  };
}

}  // namespace nnapi_convert
