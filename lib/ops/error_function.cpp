// SPDX-License-Identifier: BSD-3-Clause
// The error function's relatives: erfcx, the normal distribution, its logarithm and its inverse.
#include <cmath>
#include <limits>

#include "lib/ops/families.h"
#include "lib/ops/formula.h"

namespace nnapi_convert {
namespace {

// Computes erfc(x) * exp(x^2) for x >= 0, within 2e-7 of its value, by the Chebyshev fit of Numerical Recipes.
Expression positive_erfcx(const Expression& x) {
  const Expression t = 1 / (x * 0.5 + 1);
  return t * exp(polynomial(t, {-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
                                1.48851587, -0.82215223, 0.17087277}));
}

Expression erfcx(const Expression& x) {
  const Expression size = abs(x);
  const Expression positive = positive_erfcx(size);
  return choose(is_less(x, 0), exp(square(size)) * 2 - positive, positive);
}

// Computes the share of the normal distribution above |x|.
Expression tail(const Expression& size) {
  return positive_erfcx(size * M_SQRT1_2) * exp(square(size) * -0.5) * 0.5;
}

// Computes (1 + erf(x / sqrt(2))) / 2 in this form, as PyTorch does: below 0 the result has only the digits that the
// difference from 1 leaves of a float32.
Expression ndtr(const Expression& x) {
  const Expression erf = 1 - tail(abs(x)) * 2;
  return (choose(is_less(x, 0), -erf, erf) + 1) * 0.5;
}

// Computes the logarithm of ndtr. Below 0 it adds -x^2 / 2 to the logarithm of the other factor, which does not vanish;
// above 0 it uses a series where 1 - tail is 1.
Expression log_ndtr(const Expression& x) {
  constexpr double kSmall = 1e-3;
  const Expression size = abs(x);
  const Expression below = log(positive_erfcx(size * M_SQRT1_2) * 0.5) - square(size) * 0.5;
  const Expression beyond = tail(size);
  const Expression series = -(beyond * (beyond * 0.5 + 1));
  const Expression above = choose(is_less(beyond, kSmall), series, log(1 - beyond));
  return choose(is_less(x, 0), below, above);
}

// Computes the inverse of erf by M. Giles' polynomials in w = -log(1 - x^2), and by one of our own for w above 16: no
// float32 next to 1 has such a w, but a probability next to 0 has.
Expression inverse(const Expression& x, const Expression& w) {
  const Expression root = sqrt(w);
  const Expression middle = polynomial(w - 2.5, {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087,
                                                 -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const Expression outer = polynomial(root - 3, {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
                                                 -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
  const Expression tail = polynomial(root - 6.5, {6.36459287, 1.00910937, -0.000508474475, -1.10027067e-05,
                                                  1.00273928e-05, -2.71884005e-06, 9.06613922e-07, -1.52260241e-07});
  return choose(is_less(w, 5), middle, choose(is_less(w, 16), outer, tail)) * x;
}

// Computes the inverse of erf: infinite at -1 and 1, and NaN beyond them, as the logarithm there is.
Expression erfinv(const Expression& x) {
  const Expression found = inverse(x, -log((1 - x) * (x + 1)));
  const Expression is_end = is_equal(abs(x), 1);
  return choose(is_end, sign_factor(x) * std::numeric_limits<double>::infinity(), found);
}

Expression ndtri(const Expression& p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Expression found = inverse(p * 2 - 1, -log(p * (1 - p) * 4)) * M_SQRT2;
  return choose(is_equal(p, 0), -kInfinity, choose(is_equal(p, 1), kInfinity, found));
}

OpRule error_function_rule(const char* schema, LowerRule lower) {
  return {schema, 3, "within 1e-6", formula_type, lower, kUnprovedRows};
}

}  // namespace

OpRules error_function_rules() {
  return {
      error_function_rule("aten::special_erfcx(Tensor self) -> Tensor", lower_formula<erfcx>),
      error_function_rule("aten::special_ndtr(Tensor self) -> Tensor", lower_formula<ndtr>),
      error_function_rule("aten::special_log_ndtr(Tensor self) -> Tensor", lower_formula<log_ndtr>),
      error_function_rule("aten::special_ndtri(Tensor self) -> Tensor", lower_formula<ndtri>),
      error_function_rule("aten::erfinv(Tensor self) -> Tensor", lower_formula<erfinv>),
  };
}

}  // namespace nnapi_convert
