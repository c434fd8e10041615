// SPDX-License-Identifier: BSD-3-Clause
// Functions that treat signs, infinities and NaN in their own way: copysign, fmax, xlogy, isinf, frexp...
#include <cmath>
#include <limits>

#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/saturation.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string other_name(const OpArguments& args) {
  return args.has("other") ? "other" : "values";
}

// The type of functions that give float32 for float32 or integers.
std::vector<ValueType> real_pair_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"self", other_name(args)});
  type.dtype = float_of(type.dtype);
  return {type};
}

// The type of functions that give the promoted dtype.
std::vector<ValueType> exceptional_pair_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self", other_name(args)});
  args.require(type.dtype != at::kBool, "bool tensors", "numbers", "convert them with .float() or .int()");
  return {type};
}

template <Expression (*formula)(const Expression&, const Expression&)>
void lower_exceptional_pair(OpContext& ctx) {
  const at::ScalarType dtype = ctx.output_type().dtype;
  const Expression result = formula(argument_as(ctx, "self", dtype), argument_as(ctx, other_name(ctx), dtype));
  expand(result, ctx.output_type().dims).set_output();
}

// True for negative numbers and -0: the inverse of a zero has the zero's sign.
Expression has_sign(const Expression& x) {
  const Expression with_zero = choose(is_equal(x, 0), 1 / x, x);
  return is_less(with_zero, 0);
}

void warn_of_nan(OpContext& ctx) {
  ctx.warn("NaN counts as positive: NNAPI doesn't show its sign");
}

void lower_signbit(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  if (x.is_float()) {
    warn_of_nan(ctx);
    return has_sign(x).set_output();
  }
  is_less(x.dtype() == at::kBool ? cast(x, at::kFloat) : x, 0).set_output();
}

void lower_copysign(OpContext& ctx) {
  const Expression size = abs(argument_as(ctx, "self", at::kFloat)), other = argument_as(ctx, "other", at::kFloat);
  if (!is_known(ctx, "other") && ctx.tensor("other").dtype == at::kFloat) warn_of_nan(ctx);
  expand(choose(has_sign(other), -size, size), ctx.output_type().dims).set_output();
}

Expression fmax(const Expression& a, const Expression& b) {
  if (!a.is_float()) return maximum(a, b);
  return choose(is_nan(a), b, choose(is_nan(b), a, maximum(a, b)));
}

Expression fmin(const Expression& a, const Expression& b) {
  if (!a.is_float()) return minimum(a, b);
  return choose(is_nan(a), b, choose(is_nan(b), a, minimum(a, b)));
}

Expression heaviside(const Expression& x, const Expression& at_zero) {
  return choose(is_equal(x, 0), at_zero, as_number(is_greater(x, 0), x.dtype()));
}

// Computes x * logarithm(y): 0 for x = 0 unless y is NaN. Chooses the infinite result if the logarithm is minus
// infinity: NNAPI's product would be finite.
template <Expression (*logarithm)(const Expression&)>
Expression times_log(const Expression& x, const Expression& y) {
  const Expression log = logarithm(y), product = x * log;
  const Expression infinite = choose(is_less(x, 0), kInfinity, filled(x.context(), -kInfinity, x.type()));
  const Expression found = choose(is_equal(log, -kInfinity), infinite, product);
  return choose(is_nan(y), y + x, choose(is_equal(x, 0), filled(x.context(), 0, x.type()), found));
}

Expression log1p(const Expression& x) {
  // The quotient corrects the rounding of 1 + x (Goldberg's method).
  const Expression sum = x + 1;
  const Expression quotient = log(sum) * (x / (sum - 1));
  return choose(is_equal(sum, 1), x, choose(is_equal(x, kInfinity), x, quotient));
}

Expression logaddexp2(const Expression& a, const Expression& b) {
  const Expression most = maximum(a, b);
  const Expression sum = most + log1p(exp(-abs(a - b) * M_LN2)) * M_LOG2E;
  return choose(is_equal(abs(most), kInfinity), most, sum);
}

Expression entr(const Expression& x) {
  const Expression found = choose(is_equal(x, 0), 0.0, -x * log(x));
  return choose(is_less(x, 0), -kInfinity, found);
}

Expression sinc(const Expression& x) {
  const Expression angle = x * M_PI;
  return choose(is_equal(x, 0), 1.0, sin(angle) / angle);
}

// Returns the angle of real numbers: 0, or pi below 0.
Expression angle(const Expression& x) {
  const Expression found = as_number(is_less(x, 0)) * M_PI;
  return choose(is_nan(x), x, found);
}

std::vector<ValueType> exceptional_truth_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  promoted_dtype(args, {"self"});
  return {TensorType{at::kBool, self.dims, {}}};
}

// Lowers a test for infinities, with the least number that stands for one; integers are cast to float32, as none is
// infinite.
template <Expression (*formula)(const Expression&, double)>
void lower_infinity(OpContext& ctx) {
  formula(argument_as(ctx, "self", at::kFloat), least_infinite(ctx, "self")).set_output();
}

Expression isposinf(const Expression& x, double infinite) {
  return compare(OperationCode::GREATER_EQUAL, x, x.same(infinite));
}

Expression isneginf(const Expression& x, double infinite) {
  return compare(OperationCode::LESS_EQUAL, x, x.same(-infinite));
}

Expression isinf(const Expression& x, double infinite) {
  return isposinf(abs(x), infinite);
}

// NaN is not finite: a comparison with it never holds.
Expression isfinite(const Expression& x, double infinite) {
  return is_less(abs(x), infinite);
}

std::vector<ValueType> isclose_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"self", "other"});
  type.dtype = at::kBool;
  return {type};
}

// isclose: the numbers are equal, or their distance is finite and not larger than allowed. As in PyTorch, integers are
// compared exactly, and their distance is computed in float32.
void lower_isclose(OpContext& ctx) {
  const at::ScalarType dtype = promoted_dtype(ctx, {"self", "other"});
  const at::ScalarType exact = dtype == at::kBool ? at::kFloat : dtype;
  const Expression own = argument_as(ctx, "self", exact), others = argument_as(ctx, "other", exact);
  const Expression is_same = compare(OperationCode::EQUAL, own, others);
  const bool takes_equal_only = exact != at::kFloat && ctx.number("rtol") == 0 && ctx.number("atol") == 0;
  if (takes_equal_only) return is_same.set_output();
  const Expression self = argument_as(ctx, "self", at::kFloat), other = argument_as(ctx, "other", at::kFloat);
  const Expression distance = abs(self - other);
  const Expression allowed = abs(other) * ctx.number("rtol") + ctx.number("atol");
  const Expression is_near = compare(OperationCode::LESS_EQUAL, distance, allowed);
  const Expression is_finite = isfinite(distance, std::numeric_limits<float>::max());
  const Expression is_close = compare(OperationCode::LOGICAL_AND, is_finite, is_near);
  const Expression result = compare(OperationCode::LOGICAL_OR, is_same, is_close);
  if (!ctx.boolean("equal_nan")) return result.set_output();
  const Expression are_none = compare(OperationCode::LOGICAL_AND, is_nan(self), is_nan(other));
  compare(OperationCode::LOGICAL_OR, result, are_none).set_output();
}

Expression sign_of(const Expression& x) {
  return as_number(is_greater(x, 0), x.dtype()) - as_number(is_less(x, 0), x.dtype());
}

std::vector<ValueType> sign_type(const OpArguments& args) {
  const TensorType type = promoted_type(args, {"self"});
  args.require(type.dtype != at::kBool, "a tensor " + to_text(type), "float32, int32 or int64");
  return {type};
}

// The fraction, from 1 to below 2, and the exponent of a number that is neither 0 nor infinite. NNAPI has no access to
// the bits: comparisons with powers of two find the exponent, in halving steps, and multiplying by powers of two is
// exact.
struct Parts {
  Expression fraction, exponent;
};

Parts scaled(const Parts& parts, const Expression& is_needed, int shift) {
  return {choose(is_needed, parts.fraction * std::ldexp(1.0, -shift), parts.fraction),
          choose(is_needed, parts.exponent + static_cast<double>(shift), parts.exponent)};
}

Parts parts_of(const Expression& x) {
  constexpr int kShifts[] = {64, 32, 16, 8, 4, 2, 1};
  constexpr int kFirst = 32;  // for numbers below the least normal one
  Parts parts{abs(x), filled(x.context(), 0, x.type())};
  const auto raise = [&](int shift) {
    parts = scaled(parts, is_less(parts.fraction, std::ldexp(1.0, 1 - shift)), -shift);
  };
  raise(kFirst);
  for (const int shift : kShifts) raise(shift);
  for (const int shift : kShifts) {
    const Expression border = parts.fraction.same(std::ldexp(1.0, shift));
    parts = scaled(parts, compare(OperationCode::GREATER_EQUAL, parts.fraction, border), shift);
  }
  return parts;
}

std::vector<ValueType> frexp_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  return {self, TensorType{at::kInt, self.dims, {}}};
}

// frexp: the fraction is from 1/2 to below 1; 0 and infinite numbers are their own fraction, with the exponent 0.
void lower_frexp(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const Parts parts = parts_of(x);
  const Expression is_finite = isfinite(x, kInfinity);
  const Expression has_parts = compare(OperationCode::LOGICAL_AND, is_greater(abs(x), 0), is_finite);
  choose(has_parts, parts.fraction * sign_factor(x) * 0.5, x).set_output(0);
  choose(has_parts, parts.exponent + 1, filled(ctx, 0, x.type())).set_output(1);
}

OpRule pair(const char* schema, ShapeRule shape, LowerRule lower) {
  return {schema, 3, "", shape, lower, kUnprovedRows};
}

}  // namespace

OpRules exceptional_rules() {
  return {
      pair("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", real_pair_type, lower_copysign),
      pair("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", real_pair_type, lower_copysign),
      pair("aten::fmax(Tensor self, Tensor other) -> Tensor", exceptional_pair_type, lower_exceptional_pair<fmax>),
      pair("aten::fmin(Tensor self, Tensor other) -> Tensor", exceptional_pair_type, lower_exceptional_pair<fmin>),
      pair("aten::heaviside(Tensor self, Tensor values) -> Tensor", exceptional_pair_type,
           lower_exceptional_pair<heaviside>),
      pair("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log>>),
      pair("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log>>),
      pair("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log>>),
      pair("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log1p>>),
      pair("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log1p>>),
      pair("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", real_pair_type,
           lower_exceptional_pair<times_log<log1p>>),
      pair("aten::logaddexp2(Tensor self, Tensor other) -> Tensor", real_pair_type, lower_exceptional_pair<logaddexp2>),
      {"aten::special_entr(Tensor self) -> Tensor", 3, "", formula_type, lower_formula<entr>, kUnprovedRows},
      {"aten::sinc(Tensor self) -> Tensor", 3, "", formula_type, lower_formula<sinc>, kUnprovedRows},
      {"aten::angle(Tensor self) -> Tensor", 3, "of real numbers", formula_type, lower_formula<angle>, kUnprovedRows},
      {"aten::sgn(Tensor self) -> Tensor", 3, "of real numbers; integers: feature level 4", sign_type,
       [](OpContext& ctx) { sign_of(argument(ctx, "self")).set_output(); }, kUnprovedRows},
      {"aten::signbit(Tensor self) -> Tensor", 3, "NaN counts as positive", exceptional_truth_type, lower_signbit,
       kUnprovedRows},
      {"aten::isinf(Tensor self) -> Tensor", 3, "", exceptional_truth_type, lower_infinity<isinf>, kUnprovedRows},
      {"aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
       "equal_nan=False) -> Tensor",
       3, "distances of integers in float32, as in PyTorch", isclose_type, lower_isclose, kUnprovedRows},
      {"aten::isfinite(Tensor self) -> Tensor", 3, "", exceptional_truth_type, lower_infinity<isfinite>, kUnprovedRows},
      {"aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", 3,
       "float32; below 2^-126: as far as the device has such numbers", frexp_type, lower_frexp, kElementwise},
      {"aten::isposinf(Tensor self) -> Tensor", 3, "", exceptional_truth_type, lower_infinity<isposinf>, kUnprovedRows},
      {"aten::isneginf(Tensor self) -> Tensor", 3, "", exceptional_truth_type, lower_infinity<isneginf>, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
