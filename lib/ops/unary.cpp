// SPDX-License-Identifier: BSD-3-Clause
// Functions of one number: powers, exponentials, rounding and their like.
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/exponential.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// The type of functions that give float32 for float32 or integers.
std::vector<ValueType> real_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"self"});
  type.dtype = float_of(type.dtype);
  return {type};
}

// The type of functions that keep float32 or an integer dtype.
std::vector<ValueType> number_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self"});
  args.require(type.dtype != at::kBool, "a tensor " + to_text(type), "float32, int32 or int64");
  return {type};
}

template <Expression (*formula)(const Expression&)>
void lower_formula(OpContext& ctx) {
  formula(cast(argument(ctx, "self"), ctx.output_type().dtype)).set_output();
}

// Lowers a rounding to the formula; leaves integers as they are.
template <Expression (*formula)(const Expression&)>
void lower_rounding(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  (x.is_float() ? formula(x) : x).set_output();
}

Expression negative(const Expression& x) {
  return -x;
}

Expression reciprocal(const Expression& x) {
  return 1 / x;
}

Expression exp2(const Expression& x) {
  return pow(x.same(2), x);
}

// Computes log2. The logarithm of 0 has to stay minus infinity when it is multiplied.
Expression log2(const Expression& x) {
  const Expression natural = log(x);
  return infinite_or(natural, natural * M_LOG2E);
}

Expression log10(const Expression& x) {
  const Expression natural = log(x);
  return infinite_or(natural, natural * M_LOG10E);
}

Expression log1p_of_all(const Expression& x) {
  return infinite_or(log(maximum(x + 1, x)), log1p(x));
}

// Computes cos by half of x, which is exact; x + pi / 2 would round off digits that matter for a large x.
Expression cos(const Expression& x) {
  const Expression half = sin(x * 0.5);
  return 1 - half * half * 2;
}

Expression tan(const Expression& x) {
  return sin(x) / cos(x);
}

// Computes exp(x) / 2, which overflows only if the result does.
Expression half_exp(const Expression& x) {
  const Expression root = exp(x * 0.5);
  return root * 0.5 * root;
}

Expression cosh(const Expression& x) {
  return half_exp(x) + half_exp(-x);
}

// Computes sinh by tanh(x / 2), which keeps the digits of a small x.
Expression sinh(const Expression& x) {
  return tanh(x * 0.5) * (cosh(x) + 1);
}

Expression deg2rad(const Expression& x) {
  return x * (M_PI / 180);
}

Expression rad2deg(const Expression& x) {
  return x * (180 / M_PI);
}

Expression ceil(const Expression& x) {
  return -floor(-x);
}

Expression frac(const Expression& x) {
  return x - trunc(x);
}

// Rounds to the nearest integer, halves to the even one, by a stair function: it takes the steps at 1.5, 3.5... by a
// floor (inclusive) and those at 0.5, 2.5... by a ceiling (exclusive).
Expression round(const Expression& x) {
  const Expression half = x * 0.5;
  return floor(half + 0.25) - floor(0.25 - half);
}

void lower_round_decimals(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  require_float(ctx, x.type());
  const double factor = std::pow(10.0, static_cast<double>(ctx.integer("decimals")));
  (round(x * factor) / factor).set_output();
}

Expression sign(const Expression& x) {
  const Expression is_positive = cast(compare(OperationCode::GREATER, x, x.same(0)), x.dtype());
  const Expression is_negative = cast(compare(OperationCode::LESS, x, x.same(0)), x.dtype());
  return is_positive - is_negative;
}

// Computes erf as tanh(x * P(x^2)), at most 3e-6 off; the leading coefficient is positive, so that large inputs
// saturate.
Expression erf(const Expression& x) {
  const Expression s = square(x);
  Expression sum = s * 3.22441776e-5 - 4.15138776e-4;
  for (const double coefficient : {-4.96822401e-4, 1.0293293e-1, 1.12835817}) sum = sum * s + coefficient;
  return tanh(x * sum);
}

Expression erfc(const Expression& x) {
  return 1 - erf(x);
}

// Computes powers; small whole ones by multiplication, which is right for negative bases and works at every level.
Expression power(const Expression& x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return square(x);
  if (exponent == 3) return square(x) * x;
  if (exponent == 4) return square(square(x));
  if (exponent == 0.5) return sqrt(x);
  if (exponent == -0.5) return rsqrt(x);
  if (exponent == -1) return 1 / x;
  if (exponent == -2) return 1 / square(x);
  return pow(x, x.same(exponent));
}

std::vector<ValueType> pow_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"self", "exponent"});
  args.require(type.dtype != at::kBool, "bool tensors", "float32, int32 or int64");
  return {type};
}

void lower_pow_scalar(OpContext& ctx) {
  const at::ScalarType dtype = ctx.output_type().dtype;
  const double exponent = number_value(ctx, "exponent");
  const bool is_repeated = exponent == 1 || exponent == 2 || exponent == 3 || exponent == 4;
  ctx.require(dtype == at::kFloat || is_repeated, fmt::format("integers to the power {}", exponent), "1, 2, 3 or 4",
              "convert the tensor with .float()");
  power(argument_as(ctx, "self", dtype), exponent).set_output();
}

void lower_pow(OpContext& ctx) {
  const at::ScalarType dtype = ctx.output_type().dtype;
  if (is_number(ctx, "exponent") && !is_number(ctx, "self")) return lower_pow_scalar(ctx);
  ctx.require(dtype == at::kFloat, "integers to a power that is a tensor", "float32",
              "convert the tensors with .float()");
  pow(argument_as(ctx, "self", dtype), argument_as(ctx, "exponent", dtype)).set_output();
}

}  // namespace

OpRules unary_rules() {
  return {
      {"aten::exp(Tensor self) -> Tensor", 3, "", real_type, lower_formula<exp>, kElementwise | Memory::kFresh},
      {"aten::exp2(Tensor self) -> Tensor", 3, "", real_type, lower_formula<exp2>, kUnprovedRows},
      {"aten::expm1(Tensor self) -> Tensor", 3, "", real_type, lower_formula<expm1>, kUnprovedRows},
      {"aten::log(Tensor self) -> Tensor", 3, "", real_type, lower_formula<log>, kElementwise},
      {"aten::log2(Tensor self) -> Tensor", 3, "", real_type, lower_formula<log2>, kUnprovedRows},
      {"aten::log10(Tensor self) -> Tensor", 3, "", real_type, lower_formula<log10>, kUnprovedRows},
      {"aten::log1p(Tensor self) -> Tensor", 3, "", real_type, lower_formula<log1p_of_all>, kElementwise},
      {"aten::sqrt(Tensor self) -> Tensor", 3, "", real_type, lower_formula<sqrt>, kElementwise | Memory::kFresh},
      {"aten::rsqrt(Tensor self) -> Tensor", 3, "", real_type, lower_formula<rsqrt>, kElementwise},
      {"aten::reciprocal(Tensor self) -> Tensor", 2, "", real_type, lower_formula<reciprocal>, kElementwise},
      {"aten::sin(Tensor self) -> Tensor", 3, "", real_type, lower_formula<sin>, kElementwise},
      {"aten::cos(Tensor self) -> Tensor", 3, "", real_type, lower_formula<cos>, kElementwise},
      {"aten::tan(Tensor self) -> Tensor", 3, "", real_type, lower_formula<tan>, kUnprovedRows},
      {"aten::sinh(Tensor self) -> Tensor", 3, "", real_type, lower_formula<sinh>, kUnprovedRows},
      {"aten::cosh(Tensor self) -> Tensor", 3, "", real_type, lower_formula<cosh>, kUnprovedRows},
      {"aten::deg2rad(Tensor self) -> Tensor", 1, "", real_type, lower_formula<deg2rad>, kUnprovedRows},
      {"aten::rad2deg(Tensor self) -> Tensor", 1, "", real_type, lower_formula<rad2deg>, kUnprovedRows},
      {"aten::erf(Tensor self) -> Tensor", 1, "within 3e-6", real_type, lower_formula<erf>, kElementwise},
      {"aten::erfc(Tensor self) -> Tensor", 1, "within 3e-6", real_type, lower_formula<erfc>, kUnprovedRows},
      {"aten::neg(Tensor self) -> Tensor", 1, "integers: feature level 3", number_type, lower_formula<negative>,
       kElementwise | Memory::kFresh},
      {"aten::abs(Tensor self) -> Tensor", 1, "integers: feature level 3", number_type, lower_formula<abs>,
       kElementwise},
      {"aten::square(Tensor self) -> Tensor", 1, "integers: feature level 4", number_type, lower_formula<square>,
       kElementwise},
      {"aten::sign(Tensor self) -> Tensor", 3, "integers: feature level 4", number_type, lower_formula<sign>,
       kElementwise},
      {"aten::floor(Tensor self) -> Tensor", 1, "", number_type, lower_rounding<floor>, kElementwise},
      {"aten::ceil(Tensor self) -> Tensor", 1, "", number_type, lower_rounding<ceil>, kElementwise},
      {"aten::round(Tensor self) -> Tensor", 1, "halves to even", number_type, lower_rounding<round>, kElementwise},
      {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", 1, "float32; halves to even", float_self,
       lower_round_decimals, kElementwise},
      {"aten::trunc(Tensor self) -> Tensor", 1, "", number_type, lower_rounding<trunc>, kUnprovedRows},
      {"aten::frac(Tensor self) -> Tensor", 1, "float32", float_self, lower_formula<frac>, kUnprovedRows},
      {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", 1,
       "exponents 1 to 4 by MUL; -1 and -2: feature level 2; others: 3", pow_type, lower_pow_scalar,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", 3, "float32", pow_type, lower_pow,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
      {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", 3, "float32", pow_type, lower_pow,
       kElementwise | Memory::kFresh | Fact::kTakesAnyNumber},
  };
}

}  // namespace nnapi_convert
