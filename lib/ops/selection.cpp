// SPDX-License-Identifier: BSD-3-Clause
// Choice by a mask: where and masked_fill. NNAPI's SELECT doesn't broadcast; a number under a mask of another shape is
// put in place by MINIMUM and MAXIMUM, which do, and tensors are repeated by TILE.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kMaximumOfIntegersLevel = 3;

// A mask, and whether it marks the elements that are replaced or those that are kept.
struct Mask {
  std::string name;
  bool marks_replaced;
};

// Repeats a mask to these sizes, as numbers: NNAPI repeats no bool.
Expression expand_mask(const Expression& mask, const Dims& dims) {
  return mask.type().dims == dims ? mask : cast(expand(cast(mask, at::kFloat), dims), at::kBool);
}

double infinity(at::ScalarType dtype) {
  if (dtype == at::kFloat) return std::numeric_limits<double>::infinity();
  return std::numeric_limits<int32_t>::max();
}

double minus_infinity(at::ScalarType dtype) {
  if (dtype == at::kFloat) return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<int32_t>::min();
}

// Returns the number where the mask says to replace, and `elsewhere`, a bound that changes nothing, at other places.
Expression bound_under_mask(OpContext& ctx, const Mask& mask, double value, double elsewhere, at::ScalarType dtype) {
  const TensorType type{dtype, ctx.tensor(mask.name).dims, {}};
  if (ctx.is_constant(mask.name)) {
    const at::Tensor marked = ctx.constant(mask.name).to(at::kBool).eq(mask.marks_replaced);
    const auto number = [](double number_value) { return at::full({}, number_value, at::TensorOptions(at::kDouble)); };
    return tensor_constant(ctx, at::where(marked, number(value), number(elsewhere)).to(dtype));
  }
  const Expression condition = cast(argument(ctx, mask.name), at::kBool);
  const Expression chosen = filled(ctx, mask.marks_replaced ? value : elsewhere, type);
  return select(condition, chosen, filled(ctx, mask.marks_replaced ? elsewhere : value, type));
}

Expression replace_by_choice(const Expression& x, const Mask& mask, double value) {
  OpContext& ctx = x.context();
  const Dims dims = ctx.output_type().dims;
  const Expression marks = argument_as(ctx, mask.name, at::kFloat);
  const Expression condition = cast(expand(marks, dims), at::kBool);
  const Expression rest = expand(x, dims), number = filled(ctx, value, rest.type());
  return mask.marks_replaced ? select(condition, number, rest) : select(condition, rest, number);
}

// Replaces elements by a number by bounding them with it from both sides.
Expression replace_by_bounds(const Expression& x, const Mask& mask, double value) {
  OpContext& ctx = x.context();
  const double high = infinity(x.dtype());
  const double low = minus_infinity(x.dtype());
  if (x.is_float() && ctx.is_constant(mask.name) &&
      (value == 0 || !ctx.can_use(OperationCode::MAXIMUM, kMaximumOfIntegersLevel))) {
    const at::Tensor kept = ctx.constant(mask.name).to(at::kBool).ne(mask.marks_replaced);
    const Expression rest = x * tensor_constant(ctx, kept.to(at::kFloat));
    return value == 0 ? rest : rest + bound_under_mask(ctx, mask, value, 0, x.dtype());
  }
  if (std::isnan(value)) return replace_by_choice(x, mask, value);  // MINIMUM and MAXIMUM may skip NaN
  const Expression lowered = value == high ? x : minimum(x, bound_under_mask(ctx, mask, value, high, x.dtype()));
  return value == low ? lowered : maximum(lowered, bound_under_mask(ctx, mask, value, low, x.dtype()));
}

// Returns x with a number in place of the elements that the mask says to replace.
Expression replace(const Expression& x, const Mask& mask, double value) {
  OpContext& ctx = x.context();
  const bool same_sizes =
      ctx.tensor(mask.name).dims == ctx.output_type().dims && x.type().dims == ctx.output_type().dims;
  if (!same_sizes || ctx.is_constant(mask.name)) {
    ctx.require(!x.type().is_quantized(), "a quantised tensor under a mask of other sizes", "equal sizes");
    return replace_by_bounds(x, mask, value);
  }
  const Expression condition = cast(argument(ctx, mask.name), at::kBool);
  const Expression number = filled(ctx, value, x.type());
  return mask.marks_replaced ? select(condition, number, x) : select(condition, x, number);
}

void require_mask(const OpArguments& args, const std::string& name) {
  const TensorType mask = args.tensor(name);
  args.require(mask.dtype == at::kBool, "a mask " + to_text(mask), "bool", "compare it with 0");
}

std::vector<ValueType> where_type(const OpArguments& args) {
  require_mask(args, "condition");
  TensorType type = promoted_type(args, {"self", "other"});
  args.require(type.dtype != at::kBool, "a choice of bool tensors", "numbers");
  type.dims = broadcast_dims(args, {"condition", "self", "other"});
  return {type};
}

void lower_where(OpContext& ctx) {
  const TensorType type = ctx.output_type();
  const auto operand = [&](const char* name) { return argument_as(ctx, name, type.dtype); };
  const bool self_is_number = is_number(ctx, "self");
  const bool other_is_number = is_number(ctx, "other");
  if (self_is_number && !other_is_number) {
    return replace(operand("other"), {"condition", true}, number_value(ctx, "self")).set_output();
  }
  if (other_is_number && !self_is_number) {
    return replace(operand("self"), {"condition", false}, number_value(ctx, "other")).set_output();
  }
  const Expression condition = expand_mask(argument_as(ctx, "condition", at::kBool), type.dims);
  const Expression chosen =
      self_is_number ? filled(ctx, number_value(ctx, "self"), type) : expand(operand("self"), type.dims);
  const Expression other =
      other_is_number ? filled(ctx, number_value(ctx, "other"), type) : expand(operand("other"), type.dims);
  select(condition, chosen, other).set_output();
}

std::vector<ValueType> masked_fill_type(const OpArguments& args) {
  require_mask(args, "mask");
  const TensorType self = args.tensor("self");
  if (!self.is_quantized()) promoted_dtype(args, {"self"});
  args.require(self.dtype != at::kBool, "a tensor " + to_text(self), "numbers");
  return {self.with_dims(broadcast_dims(args, {"self", "mask"}))};
}

void lower_masked_fill(OpContext& ctx) {
  const TensorType type = ctx.output_type();
  if (is_number(ctx, "value")) {
    const Expression self = type.is_quantized() ? argument(ctx, "self") : argument_as(ctx, "self", type.dtype);
    return replace(self, {"mask", true}, number_value(ctx, "value")).set_output();
  }
  const Expression mask = expand_mask(argument_as(ctx, "mask", at::kBool), type.dims);
  const Expression value = expand(argument_as(ctx, "value", type.dtype), type.dims);
  select(mask, value, expand(argument_as(ctx, "self", type.dtype), type.dims)).set_output();
}

}  // namespace

OpRules selection_rules() {
  const char* note = "float32 and integers";
  return {
      {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", 1, note, where_type, lower_where,
       kUnprovedRows | ResultSizes::kPositionsByAxis | Fact::kSizesByOneValue},
      {"aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", 1, note, where_type,
       lower_where, kUnprovedRows | ResultSizes::kPositionsByAxis | Fact::kSizesByOneValue},
      {"aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", 1, note, where_type,
       lower_where, kUnprovedRows | ResultSizes::kPositionsByAxis | Fact::kSizesByOneValue},
      {"aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", 3, note, where_type, lower_where,
       kUnprovedRows | ResultSizes::kPositionsByAxis | Fact::kSizesByOneValue},
      {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", 1, "quint8: a mask of equal sizes",
       masked_fill_type, lower_masked_fill, kElementwise | Fact::kMovesElements | Fact::kReadsMaskBytes},
      {"aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", 1, note, masked_fill_type,
       lower_masked_fill, kElementwise | Fact::kMovesElements | Fact::kReadsMaskBytes},
  };
}

}  // namespace nnapi_convert
