// Functions of one tensor that are one formula of NNAPI's operations: a rule's parts, and the pieces of formulas.
#pragma once

#include <vector>

#include "lib/ops/expression.h"
#include "lib/ops/op_rule.h"
#include "lib/ops/promotion.h"

namespace nnapi_convert {

// The argument of a function of one tensor: "self", or what some schemas call "x".
inline const char* formula_argument(const OpArguments& args) {
  return args.has("self") ? "self" : "x";
}
// float32 of the sizes of the argument, which holds float32 or integers.
std::vector<ValueType> formula_type(const OpArguments& args);

// Lowers to a formula of the argument as float32.
template <Expression (*formula)(const Expression&)>
void lower_formula(OpContext& ctx) {
  formula(argument_as(ctx, formula_argument(ctx), at::kFloat)).set_output();
}

// The sum of coefficient i times x to the power i, by Horner's rule.
Expression polynomial(const Expression& x, const std::vector<double>& coefficients);
// `chosen` where the mask holds, else `other`; all three broadcast against each other.
Expression choose(const Expression& mask, const Expression& chosen, const Expression& other);
Expression choose(const Expression& mask, const Expression& chosen, double other);
Expression choose(const Expression& mask, double chosen, const Expression& other);
// Comparisons with a number.
Expression is_less(const Expression& x, double number);
Expression is_greater(const Expression& x, double number);
Expression is_equal(const Expression& x, double number);
// Where x is not a number.
Expression is_nan(const Expression& x);
// To the nearest whole number, halves to the even one.
Expression round_to_even(const Expression& x);
// 1 below a mask, 0 elsewhere.
Expression as_number(const Expression& mask, at::ScalarType dtype = at::kFloat);
// -1 for numbers below 0, else 1.
Expression sign_factor(const Expression& x);

}  // namespace nnapi_convert
