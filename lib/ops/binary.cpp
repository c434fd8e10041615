// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of two or more tensors and numbers, of float32 or integers.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cfloat>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/operand_range.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

TensorType arithmetic_type(const OpArguments& args, const std::vector<std::string>& names) {
  const TensorType type = promoted_type(args, names);
  args.require(type.dtype != at::kBool, "bool tensors", "numbers", "convert them with .float() or .int()");
  return type;
}

std::vector<ValueType> binary_type(const OpArguments& args) {
  return {arithmetic_type(args, {"self", "other"})};
}

// The type of operators that take bools, too: their sum and maximum is OR, their product and minimum AND.
std::vector<ValueType> lattice_type(const OpArguments& args) {
  return {promoted_type(args, {"self", "other"})};
}

std::vector<ValueType> quotient_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"self", "other"});
  const bool rounds = args.has("rounding_mode") && !args.is_none("rounding_mode");
  if (!rounds) type.dtype = float_of(type.dtype);
  return {type};
}

std::vector<ValueType> add_product_type(const OpArguments& args) {
  TensorType type = arithmetic_type(args, {"self", "tensor1", "tensor2"});
  require_float(args, type);
  return {type};
}

std::vector<ValueType> lerp_type(const OpArguments& args) {
  TensorType type = arithmetic_type(args, {"self", "end", "weight"});
  require_float(args, type);
  return {type};
}

Expression operand(OpContext& ctx, const std::string& name, double factor = 1) {
  return argument_as(ctx, name, ctx.output_type().dtype, factor);
}

bool gives_bool(const OpContext& ctx) {
  return ctx.output_type().dtype == at::kBool;
}

template <OperationCode code>
void lower_of_bools(OpContext& ctx) {
  compare(code, operand(ctx, "self"), operand(ctx, "other")).set_output();
}

void lower_add(OpContext& ctx) {
  if (gives_bool(ctx)) {
    ctx.require(ctx.number("alpha") == 1, fmt::format("bools, and alpha = {}", ctx.number("alpha")), "1");
    return lower_of_bools<OperationCode::LOGICAL_OR>(ctx);
  }
  (operand(ctx, "self") + operand(ctx, "other", ctx.number("alpha"))).set_output();
}

// left - alpha * right; a constant is added with its sign turned, which can be folded into an operation before.
void lower_difference(OpContext& ctx, const std::string& left, const std::string& right) {
  const double alpha = ctx.number("alpha");
  const Expression a = operand(ctx, left);
  if (is_known(ctx, right)) return (a + operand(ctx, right, -alpha)).set_output();
  if (is_number(ctx, left) && !is_size(ctx, left))
    return (number_value(ctx, left) - operand(ctx, right, alpha)).set_output();
  (a - operand(ctx, right, alpha)).set_output();
}

void lower_sub(OpContext& ctx) {
  lower_difference(ctx, "self", "other");
}

void lower_rsub(OpContext& ctx) {
  lower_difference(ctx, "other", "self");
}

void lower_mul(OpContext& ctx) {
  if (gives_bool(ctx)) return lower_of_bools<OperationCode::LOGICAL_AND>(ctx);
  (operand(ctx, "self") * operand(ctx, "other")).set_output();
}

// Divides by a constant by multiplying by its inverses, if all are normal numbers of float32: the product can be folded
// into the operation before.
Expression true_quotient(OpContext& ctx) {
  const Expression self = argument_as(ctx, "self", at::kFloat);
  if (is_number(ctx, "other") && !is_size(ctx, "other")) return self / number_value(ctx, "other");
  if (!ctx.is_constant("other")) return self / argument_as(ctx, "other", at::kFloat);
  const at::Tensor inverse = ctx.constant("other").to(at::kDouble).reciprocal().to(at::kFloat);
  const at::Tensor size = inverse.abs();
  const bool all_normal = at::isfinite(inverse).logical_and(size.ge(FLT_MIN)).all().item().toBool();
  return all_normal ? self * tensor_constant(ctx, inverse) : self / argument_as(ctx, "other", at::kFloat);
}

void lower_div(OpContext& ctx) {
  true_quotient(ctx).set_output();
}

// NNAPI's DIV of integers rounds down.
Expression floor_quotient(const Expression& a, const Expression& b) {
  return a.is_float() ? floor(a / b) : a / b;
}

bool is_exact_in_float32(const Expression& x) {
  const auto range = operand_range(x.context(), x.id());
  return range && range->is_exact_in_float32();
}

// CAST to an integer rounds towards zero. Large integers are rounded down first; what is negative and no whole number
// is one more.
Expression trunc_quotient(const Expression& a, const Expression& b) {
  constexpr int kCalculatesIntegers = 4;
  if (a.is_float()) return trunc(a / b);
  const bool is_exact = is_exact_in_float32(a) && is_exact_in_float32(b);
  if (is_exact || a.context().feature_level() < kCalculatesIntegers) {
    return cast(cast(a, at::kFloat) / cast(b, at::kFloat), a.dtype());
  }
  const Expression below = a / b;
  const Expression is_negative = compare(OperationCode::LESS, below, below.same(0));
  const Expression has_rest = compare(OperationCode::NOT_EQUAL, below * b, a);
  return below + cast(compare(OperationCode::LOGICAL_AND, is_negative, has_rest), below.dtype());
}

using Quotient = Expression (*)(const Expression&, const Expression&);

template <Quotient quotient>
void lower_rounded_quotient(OpContext& ctx) {
  quotient(operand(ctx, "self"), operand(ctx, "other")).set_output();
}

void lower_div_mode(OpContext& ctx) {
  if (ctx.is_none("rounding_mode")) return lower_div(ctx);
  const std::string mode = ctx.string("rounding_mode");
  if (mode == "floor") return lower_rounded_quotient<floor_quotient>(ctx);
  ctx.require(mode == "trunc", "rounding_mode = " + mode, "floor or trunc");
  lower_rounded_quotient<trunc_quotient>(ctx);
}

// Lowers a remainder: the dividend less the rounded quotient times the divisor.
template <Quotient quotient>
void lower_remainder(OpContext& ctx) {
  const Expression a = operand(ctx, "self");
  const Expression b = operand(ctx, "other");
  (a - quotient(a, b) * b).set_output();
}

template <Expression (*function)(const Expression&, const Expression&), OperationCode of_bools>
void lower_function(OpContext& ctx) {
  if (gives_bool(ctx)) return lower_of_bools<of_bools>(ctx);
  function(operand(ctx, "self"), operand(ctx, "other")).set_output();
}

// addcmul: the factor goes into a constant argument if there is one.
void lower_addcmul(OpContext& ctx) {
  const double value = ctx.number("value");
  const bool first_is_known = is_known(ctx, "tensor1");
  const Expression first = operand(ctx, "tensor1", first_is_known ? value : 1);
  (first * operand(ctx, "tensor2", first_is_known ? 1 : value) + operand(ctx, "self")).set_output();
}

void lower_addcdiv(OpContext& ctx) {
  const Expression quotient = operand(ctx, "tensor1", ctx.number("value")) / operand(ctx, "tensor2");
  (quotient + operand(ctx, "self")).set_output();
}

void lower_lerp(OpContext& ctx) {
  const Expression self = operand(ctx, "self");
  (self + (operand(ctx, "end") - self) * operand(ctx, "weight")).set_output();
}

}  // namespace

OpRules binary_rules() {
  const char* note = "float32; integers: feature level 4, below it those known to be up to 2^24";
  const char* note_of_bools = "float32; bools: feature level 3; integers: 4, below it those known to be up to 2^24";
  const char* divided = "integers are divided as float32";
  constexpr LowerRule or_maximum = lower_function<maximum, OperationCode::LOGICAL_OR>;
  constexpr LowerRule and_minimum = lower_function<minimum, OperationCode::LOGICAL_AND>;
  return {
      {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 1, note_of_bools, lattice_type,
       lower_add, kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 1, note_of_bools, lattice_type,
       lower_add, kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 1, note, binary_type, lower_sub,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 1, note, binary_type, lower_sub,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 1, note, binary_type, lower_rsub,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", 1, note_of_bools, lattice_type, lower_mul,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", 1, note_of_bools, lattice_type, lower_mul,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", 1, divided, quotient_type, lower_div,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", 1, divided, quotient_type, lower_div,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", 2, note, quotient_type,
       lower_div_mode, kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", 1, note, quotient_type,
       lower_div_mode, kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::floor_divide(Tensor self, Tensor other) -> Tensor", 2, note, binary_type,
       lower_rounded_quotient<floor_quotient>, kUnprovedRows},
      {"aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", 2, note, binary_type,
       lower_rounded_quotient<floor_quotient>, kUnprovedRows},
      {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", 2, note, binary_type,
       lower_remainder<floor_quotient>, kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", 2, note, binary_type,
       lower_remainder<floor_quotient>, kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", 2, note, binary_type,
       lower_remainder<floor_quotient>, kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", 2, note, binary_type, lower_remainder<trunc_quotient>,
       kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", 2, note, binary_type, lower_remainder<trunc_quotient>,
       kUnprovedRows | Fact::kTakesAnyNumber},
      {"aten::maximum(Tensor self, Tensor other) -> Tensor", 1, note_of_bools, lattice_type, or_maximum, kElementwise},
      {"aten::max.other(Tensor self, Tensor other) -> Tensor", 1, note_of_bools, lattice_type, or_maximum,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::minimum(Tensor self, Tensor other) -> Tensor", 1, note_of_bools, lattice_type, and_minimum, kElementwise},
      {"aten::min.other(Tensor self, Tensor other) -> Tensor", 1, note_of_bools, lattice_type, and_minimum,
       kUnprovedRows | Fact::kKeepsRankAlongAxis},
      {"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", 1, "float32",
       add_product_type, lower_addcmul, kUnprovedRows},
      {"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", 2, "float32",
       add_product_type, lower_addcdiv, kUnprovedRows},
      {"aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", 1, "float32", lerp_type, lower_lerp,
       kUnprovedRows},
      {"aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", 1, "float32", lerp_type, lower_lerp,
       kUnprovedRows},
  };
}

}  // namespace nnapi_convert
