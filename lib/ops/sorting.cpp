// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/sorting.h"

#include <algorithm>
#include <numeric>

#include "lib/nnapi/api_level.h"
#include "lib/ops/operand_range.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

TensorType indices_of(const TensorType& values) {
  return {at::kLong, values.dims, {}};
}

// Appends TOPK_V2 along the last axis.
Sorted greatest_of_last(const Expression& x, int64_t k) {
  OpContext& ctx = x.context();
  TensorType values = x.type();
  values.dims.back() = Dim(k);
  const TensorType indices = indices_of(values);
  const std::vector<nnapi::OperandId> ids =
      ctx.builder().add(OperationCode::TOPK_V2, {x.id(), ctx.builder().int32(k)},
                        std::vector<nnapi::Operand>{to_operand(values), to_operand(indices)});
  return {{ctx, {ids[0], values}}, {ctx, {ids[1], indices}}};
}

Sorted greatest(const Expression& x, size_t axis, int64_t k) {
  if (axis + 1 == x.type().rank()) return greatest_of_last(x, k);
  std::vector<int64_t> order(x.type().rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order.back());
  const Sorted found = greatest_of_last(transpose(x, order), k);
  return {transpose(found.values, order), transpose(found.indices, order)};
}

// Returns numbers in the opposite order: -x, or -1 - x for integers that may be the least one, which has no negative.
Expression reversed(const Expression& x) {
  constexpr int kCalculatesIntegers = 4;
  OpContext& ctx = x.context();
  const auto range = x.is_float() ? std::nullopt : operand_range(ctx, x.id());
  if (x.is_float() || (range && range->least > INT32_MIN)) return -x;
  ctx.require(ctx.feature_level() >= kCalculatesIntegers, "integers of an unknown range in rising order",
              "feature level 4", "use " + option_for_level(kCalculatesIntegers));
  return -1 - x;
}

}  // namespace

// The least numbers are the greatest of reversed().
Sorted first_in_order(const Expression& x, size_t axis, int64_t k, bool largest) {
  OpContext& ctx = x.context();
  if (x.type().rank() == 0) return {x, filled(ctx, 0, indices_of(x.type()))};
  if (largest) return greatest(x, axis, k);
  ctx.require(!x.type().is_quantized(), "the least of a quantised tensor", "the greatest",
              "use dequantize() before it");
  const Sorted found = greatest(reversed(x), axis, k);
  return {reversed(found.values), found.indices};
}

}  // namespace nnapi_convert
