// SPDX-License-Identifier: BSD-3-Clause
// Bessel functions, by the polynomials of Abramowitz and Stegun (9.4 and 9.8): one for small arguments, one in the
// inverse of large ones, each within a few units of a float32's rounding.
#include <cmath>

#include "lib/ops/families.h"
#include "lib/ops/formula.h"

namespace nnapi_convert {
namespace {

// Compute I0 and I1 times exp(-|x|).
Expression scaled_i0(const Expression& x) {
  constexpr double kBorder = 3.75;
  const Expression size = abs(x);
  const Expression small =
      polynomial(square(x / kBorder), {1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813}) *
      exp(-size);
  const Expression large = polynomial(kBorder / size, {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281,
                                                       -0.02057706, 0.02635537, -0.01647633, 0.00392377}) /
                           sqrt(size);
  return choose(is_less(size, kBorder), small, large);
}

Expression scaled_i1(const Expression& x) {
  constexpr double kBorder = 3.75;
  const Expression size = abs(x);
  const Expression small =
      x * exp(-size) *
      polynomial(square(x / kBorder), {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411});
  const Expression large = polynomial(kBorder / size, {0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555,
                                                       0.02282967, -0.02895312, 0.01787654, -0.00420059}) /
                           sqrt(size);
  return choose(is_less(size, kBorder), small, large * sign_factor(x));
}

// Multiplies by exp(exponent) in two factors: exp(|x|) alone is infinite sooner than the product.
Expression times_exp(const Expression& x, const Expression& exponent) {
  const Expression root = exp(exponent * 0.5);
  return x * root * root;
}

Expression i0(const Expression& x) {
  return times_exp(scaled_i0(x), abs(x));
}

Expression i1(const Expression& x) {
  return times_exp(scaled_i1(x), abs(x));
}

// Compute K0 and K1 of arguments up to 2; for larger arguments K0 and K1 times exp(x).
Expression small_k0(const Expression& x) {
  const Expression half = x * 0.5;
  return polynomial(square(half),
                    {-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740}) -
         log(half) * i0(x);
}

Expression small_k1(const Expression& x) {
  const Expression half = x * 0.5;
  return log(half) * i1(x) +
         polynomial(square(half), {1, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686}) / x;
}

Expression large_scaled_k0(const Expression& x) {
  return polynomial(2 / x, {1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208}) /
         sqrt(x);
}

Expression large_scaled_k1(const Expression& x) {
  return polynomial(2 / x, {1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245}) /
         sqrt(x);
}

using Formula = Expression (*)(const Expression&);

// Computes K0 or K1. It is NaN for arguments below 0, as their logarithm is.
template <Formula small, Formula scaled>
Expression second_kind(const Expression& x) {
  return choose(is_greater(x, 2), scaled(x) * exp(-x), small(x));
}

template <Formula small, Formula scaled>
Expression scaled_second_kind(const Expression& x) {
  return choose(is_greater(x, 2), scaled(x), small(x) * exp(x));
}

// For large arguments all four functions are a wave: its amplitude, divided by the square root of x, and its angle.
struct Wave {
  Expression size, angle;
};

Wave wave0(const Expression& x) {
  const Expression t = 3 / x;
  return {
      polynomial(t, {0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476}) / sqrt(x),
      x + polynomial(t, {-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558})};
}

Wave wave1(const Expression& x) {
  const Expression t = 3 / x;
  return {
      polynomial(t, {0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033}) / sqrt(x),
      x + polynomial(t, {-2.35619449, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166})};
}

Expression small_j0(const Expression& x) {
  return polynomial(square(x / 3), {1, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100});
}

Expression small_j1(const Expression& x) {
  return x *
         polynomial(square(x / 3), {0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109});
}

Expression bessel_j0(const Expression& x) {
  const Expression size = abs(x);
  const Wave wave = wave0(size);
  return choose(is_greater(size, 3), wave.size * sin(wave.angle + M_PI_2), small_j0(x));
}

Expression bessel_j1(const Expression& x) {
  const Expression size = abs(x);
  const Wave wave = wave1(size);
  return choose(is_greater(size, 3), wave.size * sin(wave.angle + M_PI_2) * sign_factor(x), small_j1(x));
}

Expression bessel_y0(const Expression& x) {
  const Expression series = polynomial(
      square(x / 3), {0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214, 0.00427916, -0.00024846});
  const Wave wave = wave0(x);
  return choose(is_greater(x, 3), wave.size * sin(wave.angle), log(x * 0.5) * small_j0(x) * M_2_PI + series);
}

Expression bessel_y1(const Expression& x) {
  const Expression series =
      polynomial(square(x / 3), {-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873});
  const Wave wave = wave1(x);
  return choose(is_greater(x, 3), wave.size * sin(wave.angle), log(x * 0.5) * small_j1(x) * M_2_PI + series / x);
}

// Computes sin(x) / x, by its series near 0.
Expression spherical_bessel_j0(const Expression& x) {
  const Expression series = polynomial(square(x), {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040});
  return choose(is_less(abs(x), 0.5), series, sin(x) / x);
}

OpRule rule(const char* schema, LowerRule lower) {
  return {schema, 3, "within 1e-6", formula_type, lower, kUnprovedRows};
}

}  // namespace

OpRules bessel_rules() {
  return {
      rule("aten::i0(Tensor self) -> Tensor", lower_formula<i0>),
      rule("aten::special_i0e(Tensor self) -> Tensor", lower_formula<scaled_i0>),
      rule("aten::special_i1(Tensor self) -> Tensor", lower_formula<i1>),
      rule("aten::special_i1e(Tensor self) -> Tensor", lower_formula<scaled_i1>),
      rule("aten::special_modified_bessel_i0(Tensor self) -> Tensor", lower_formula<i0>),
      rule("aten::special_modified_bessel_i1(Tensor self) -> Tensor", lower_formula<i1>),
      rule("aten::special_modified_bessel_k0(Tensor self) -> Tensor",
           lower_formula<second_kind<small_k0, large_scaled_k0>>),
      rule("aten::special_modified_bessel_k1(Tensor self) -> Tensor",
           lower_formula<second_kind<small_k1, large_scaled_k1>>),
      rule("aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor",
           lower_formula<scaled_second_kind<small_k0, large_scaled_k0>>),
      rule("aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor",
           lower_formula<scaled_second_kind<small_k1, large_scaled_k1>>),
      rule("aten::special_bessel_j0(Tensor self) -> Tensor", lower_formula<bessel_j0>),
      rule("aten::special_bessel_j1(Tensor self) -> Tensor", lower_formula<bessel_j1>),
      rule("aten::special_bessel_y0(Tensor self) -> Tensor", lower_formula<bessel_y0>),
      rule("aten::special_bessel_y1(Tensor self) -> Tensor", lower_formula<bessel_y1>),
      rule("aten::special_spherical_bessel_j0(Tensor x) -> Tensor", lower_formula<spherical_bessel_j0>),
  };
}

}  // namespace nnapi_convert
