// SPDX-License-Identifier: BSD-3-Clause
// Functions that NNAPI has no operation for, by formulas of others: inverse trigonometric and hyperbolic ones, logit,
// logaddexp, hypot, nan_to_num, one_hot, dot.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lib/ops/exponential.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/saturation.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

std::vector<ValueType> special_real_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  args.require(!self.is_quantized(), "a tensor " + to_text(self), "float32 or integers");
  return {TensorType{float_of(promoted_dtype(args, {"self"})), self.dims, {}}};
}

template <Expression (*formula)(const Expression&)>
void lower_special_formula(OpContext& ctx) {
  formula(argument_as(ctx, "self", at::kFloat)).set_output();
}

// Returns the tangent of half the angle: atan(x) = 2 atan(x / (1 + sqrt(1 + x^2))).
Expression half_angle(const Expression& x) {
  return x / (sqrt(square(x) + 1) + 1);
}

// Halves the angle twice, so that 0.42 is the largest argument of the series. Numbers beyond 1e9, whose squares may
// overflow, have the same result as 1e9.
Expression atan(const Expression& x) {
  const Expression t = half_angle(half_angle(minimum(maximum(x, -1e9), 1e9)));
  const Expression s = square(t);
  Expression sum = s * (1.0 / 13) - 1.0 / 11;
  for (const double coefficient : {1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0}) sum = sum * s + coefficient;
  return t * sum * 4;
}

Expression asin(const Expression& x) {
  return atan(x / sqrt(1 - square(x)));
}

// Computes acos, exactly at 1, where pi / 2 - asin(x) would leave a rounding error.
Expression acos(const Expression& x) {
  return atan(sqrt((1 - x) / (x + 1))) * 2;
}

Expression sign_factor(const Expression& x) {
  return 1 - cast(compare(OperationCode::LESS, x, x.same(0)), x.dtype()) * 2;
}

// Computes log(|x| + sqrt(x^2 + 1)); the sum is |x| * (1 + |x| / (1 + sqrt(x^2 + 1))) + 1. Numbers beyond 1e9, whose
// squares may overflow, have the same share as 1e9.
Expression asinh(const Expression& x) {
  const Expression size = abs(x);
  const Expression share = half_angle(minimum(size, 1e9));
  return sign_factor(x) * log1p(size * (share + 1));
}

Expression acosh(const Expression& x) {
  const Expression above = x - 1;
  return log1p(above + sqrt(above) * sqrt(above + 2));
}

constexpr double kInfiniteResult = std::numeric_limits<double>::infinity();

// Returns `value` where x is `place`, else `other`: NNAPI's arithmetic gives no infinite numbers.
Expression chosen_at(const Expression& x, double place, double value, const Expression& other) {
  return select(compare(OperationCode::EQUAL, x, x.same(place)), filled(x.context(), value, x.type()), other);
}

Expression atanh(const Expression& x) {
  const Expression size = abs(x);
  const Expression found = sign_factor(x) * log1p(size * 2 / (1 - size)) * 0.5;
  return chosen_at(x, 1, kInfiniteResult, chosen_at(x, -1, -kInfiniteResult, found));
}

std::vector<ValueType> special_pair_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self", "other"});
  args.require(type.dtype == at::kFloat, "tensors of " + dtype_name(type.dtype), "float32");
  return {type};
}

template <Expression (*formula)(const Expression&, const Expression&)>
void lower_special_pair(OpContext& ctx) {
  formula(argument_as(ctx, "self", at::kFloat), argument_as(ctx, "other", at::kFloat)).set_output();
}

Expression hypot(const Expression& a, const Expression& b) {
  return sqrt(square(a) + square(b));
}

// logaddexp: subtracts a finite number, as the difference of two equal infinities is NaN.
Expression logaddexp(const Expression& a, const Expression& b) {
  const Expression larger = maximum(a, b);
  return infinite_or(larger, larger + log1p(exp(minimum(a, b) - finite(larger))));
}

// Returns 1 where the comparison of x with 0 holds, else 0.
Expression indicator(OperationCode code, const Expression& x) {
  return cast(compare(code, x, x.same(0)), at::kFloat);
}

// Computes the angle to the nearer half of the first axis, then corrects it by the half and the side.
Expression atan2(const Expression& y, const Expression& x) {
  constexpr double kLeast = 1e-37;  // makes the angle of (0, 0) 0
  const Expression angle = atan(y / (hypot(x, y) + abs(x) + kLeast)) * 2;
  const Expression is_behind = indicator(OperationCode::LESS, x);
  return angle * (1 - is_behind * 2) + is_behind * sign_factor(y) * M_PI;
}

void lower_logit(OpContext& ctx) {
  Expression x = argument_as(ctx, "self", at::kFloat);
  if (!ctx.is_none("eps")) x = minimum(maximum(x, ctx.number("eps")), 1 - ctx.number("eps"));
  const Expression found = log(x / (1 - x));
  const bool reaches_one = ctx.is_none("eps") || ctx.number("eps") <= 0;
  (reaches_one ? chosen_at(x, 1, kInfiniteResult, found) : found).set_output();
}

std::vector<ValueType> float_type(const OpArguments& args) {
  require_float(args, args.tensor("self"));
  return {args.tensor("self")};
}

double number_or(const OpArguments& args, const char* name, double otherwise) {
  return args.is_none(name) ? otherwise : args.number(name);
}

void lower_nan_to_num(OpContext& ctx) {
  constexpr double kGreatest = std::numeric_limits<float>::max();
  const Expression x = argument(ctx, "self");
  const double infinite = least_infinite(ctx, "self");
  const auto replaced = [&](OperationCode code, const Expression& value, double limit, double number) {
    return select(compare(code, x, x.same(limit)), filled(ctx, number, x.type()), value);
  };
  Expression result = replaced(OperationCode::GREATER_EQUAL, x, infinite, number_or(ctx, "posinf", kGreatest));
  result = replaced(OperationCode::LESS_EQUAL, result, -infinite, number_or(ctx, "neginf", -kGreatest));
  const Expression is_number = compare(OperationCode::EQUAL, x, x);
  select(is_number, result, filled(ctx, number_or(ctx, "nan", 0), x.type())).set_output();
}

std::vector<ValueType> one_hot_type(const OpArguments& args) {
  TensorType type = args.tensor("self");
  require_rank(args, type, 0, 3);
  const int64_t classes = args.integer("num_classes");
  args.require(classes > 0, fmt::format("num_classes={}", classes),
               "a number of classes that doesn't depend on values");
  type.dims.emplace_back(classes);
  return {type};
}

void lower_one_hot(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  Dims dims = self.type().dims;
  dims.emplace_back(1);
  std::vector<int64_t> row(dims.size(), 1);
  row.back() = ctx.integer("num_classes");
  const Expression classes = tensor_constant(ctx, at::arange(row.back(), at::kInt).reshape(row));
  const Expression matches = compare(OperationCode::EQUAL, reshape(cast(self, at::kInt), dims), classes);
  cast(matches, at::kLong).set_output();
}

std::vector<ValueType> dot_type(const OpArguments& args) {
  require_float(args, args.tensor("self"));
  return {args.tensor("self").with_dims({})};
}

void lower_dot(OpContext& ctx) {
  const Expression product = argument(ctx, "self") * argument(ctx, "tensor");
  reduce(OperationCode::REDUCE_SUM, product, {0}, false).set_output();
}

constexpr const char* kSeries = "within 1e-6";

}  // namespace

OpRules special_rules() {
  return {
      {"aten::atan(Tensor self) -> Tensor", 3, kSeries, special_real_type, lower_special_formula<atan>, kUnprovedRows},
      {"aten::asin(Tensor self) -> Tensor", 3, kSeries, special_real_type, lower_special_formula<asin>, kUnprovedRows},
      {"aten::acos(Tensor self) -> Tensor", 3, kSeries, special_real_type, lower_special_formula<acos>, kUnprovedRows},
      {"aten::asinh(Tensor self) -> Tensor", 3, "", special_real_type, lower_special_formula<asinh>, kUnprovedRows},
      {"aten::acosh(Tensor self) -> Tensor", 3, "", special_real_type, lower_special_formula<acosh>, kUnprovedRows},
      {"aten::atanh(Tensor self) -> Tensor", 3, "", special_real_type, lower_special_formula<atanh>, kUnprovedRows},
      {"aten::atan2(Tensor self, Tensor other) -> Tensor", 3, kSeries, special_pair_type, lower_special_pair<atan2>,
       kUnprovedRows},
      {"aten::hypot(Tensor self, Tensor other) -> Tensor", 3, "float32", special_pair_type, lower_special_pair<hypot>,
       kUnprovedRows},
      {"aten::logaddexp(Tensor self, Tensor other) -> Tensor", 3, "float32", special_pair_type,
       lower_special_pair<logaddexp>, kUnprovedRows},
      {"aten::logit(Tensor self, float? eps=None) -> Tensor", 3, "", special_real_type, lower_logit, kUnprovedRows},
      {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", 3, "float32",
       float_type, lower_nan_to_num, kUnprovedRows},
      {"aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", 3, "a given number of classes", one_hot_type,
       lower_one_hot, kUnprovedRows | Index::kClass | Fact::kSizesByValues | Fact::kCountsByValues},
      {"aten::dot(Tensor self, Tensor tensor) -> Tensor", 3, "float32", dot_type, lower_dot, costing(Macs::kProduct)},
  };
}

}  // namespace nnapi_convert
