// SPDX-License-Identifier: BSD-3-Clause
// Helps rules that lower a function of one tensor to one formula of NNAPI operations.
#pragma once

#include <vector>

#include "lib/ops/expression.h"
#include "lib/ops/op_rule.h"
#include "lib/ops/promotion.h"

namespace nnapi_convert {

// Returns the name of the tensor argument: "self", or "x" in some schemas.
inline const char* formula_argument(const OpArguments& args) {
  return args.has("self") ? "self" : "x";
}
// Returns float32 with the argument's sizes. The argument may be float32 or integer.
std::vector<ValueType> formula_type(const OpArguments& args);

// Lowers the node to a formula of the argument, cast to float32.
template <Expression (*formula)(const Expression&)>
void lower_formula(OpContext& ctx) {
  formula(argument_as(ctx, formula_argument(ctx), at::kFloat)).set_output();
}

// Computes the sum of coefficient i times x to the power i, by Horner's rule.
Expression polynomial(const Expression& x, const std::vector<double>& coefficients);
// Select `chosen` where the mask is true, else `other`; the three tensors broadcast against each other.
Expression choose(const Expression& mask, const Expression& chosen, const Expression& other);
Expression choose(const Expression& mask, const Expression& chosen, double other);
Expression choose(const Expression& mask, double chosen, const Expression& other);
// Compare each element with a number.
Expression is_less(const Expression& x, double number);
Expression is_greater(const Expression& x, double number);
Expression is_equal(const Expression& x, double number);
// Returns a mask of the elements that are NaN.
Expression is_nan(const Expression& x);
// Rounds to the nearest integer, halves to the even one.
Expression round_to_even(const Expression& x);
// Returns 1 where the mask is true, 0 elsewhere.
Expression as_number(const Expression& mask, at::ScalarType dtype = at::kFloat);
// Returns -1 for numbers below 0, else 1.
Expression sign_factor(const Expression& x);

}  // namespace nnapi_convert
