// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/fixed_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nnapi_convert::host {
namespace {

// Returns the 16-bit code of a number.
constexpr int16_t code_of(double number, int integer_bits) {
  const double code = number * (1 << (15 - integer_bits));
  return static_cast<int16_t>(code + (code < 0 ? -0.5 : 0.5));
}

constexpr int16_t kGreatest = std::numeric_limits<int16_t>::max();  // the code nearest to 1 without integer bits
constexpr int16_t kOneWith2 = code_of(1, 2);

int16_t wrapped(int32_t number) {
  return static_cast<int16_t>(number);
}

// Returns e^x for -1/4 <= x < 0 without integer bits, by the Taylor series around -1/8.
int16_t exp_near_zero(int16_t x) {
  constexpr int16_t kExpOfCentre = code_of(0.8824969025845955, 0), kThird = code_of(1.0 / 3, 0);
  const int16_t y = wrapped(x + code_of(0.125, 0));
  const int16_t y2 = fixed_product(y, y), y3 = fixed_product(y2, y), y4 = fixed_product(y2, y2);
  const int16_t cubic = fixed_product(wrapped(rounding_shift_right(y4, 2) + y3), kThird);
  const int16_t tail = wrapped(rounding_shift_right(cubic + y2, 1));
  return saturated_16(kExpOfCentre + fixed_product(kExpOfCentre, wrapped(y + tail)));
}

// Returns e^x for x <= 0, without integer bits: splits x into powers of two from 1/4 on and a rest in [-1/4, 0).
int16_t exp_of_negative(int16_t x, int integer_bits) {
  // e^-1/4, e^-1/2, e^-1, e^-2, e^-4, e^-8, e^-16
  constexpr std::array<int16_t, 7> kFactors = {code_of(0.7788007830714049, 0),    code_of(0.6065306597126334, 0),
                                               code_of(0.36787944117144233, 0),   code_of(0.1353352832366127, 0),
                                               code_of(0.018315638888734179, 0),  code_of(0.00033546262790251185, 0),
                                               code_of(1.1253517471925912e-07, 0)};
  const int fraction_bits = 15 - integer_bits;
  if (x == 0) return kGreatest;
  if (integer_bits > 5 && x < -(32 << fraction_bits)) return 0;
  const int32_t quarter = 1 << (fraction_bits - 2);
  const int32_t rest = (x & (quarter - 1)) - quarter;
  const int32_t quarters = rest - x;
  int16_t result = exp_near_zero(saturated_16(int64_t{rest} * (1 << integer_bits)));
  for (std::size_t i = 0; i < kFactors.size(); ++i) {
    const int exponent = static_cast<int>(i) - 2;
    if (exponent >= integer_bits) break;
    if ((quarters >> (fraction_bits + exponent) & 1) != 0) result = fixed_product(result, kFactors[i]);
  }
  return result;
}

// Returns 2 / (1 + x) for x from 0 to 1 without integer bits, by Newton's method; the result has 2 integer bits.
int16_t reciprocal_of_half_of_one_plus(int16_t x) {
  constexpr int16_t kStart = code_of(48.0 / 17, 2), kSlope = code_of(-32.0 / 17, 2);
  const int16_t half = wrapped((x + kGreatest + 1) / 2);
  int16_t result = wrapped(kStart + fixed_product(half, kSlope));
  for (int i = 0; i < 3; ++i) {
    const int16_t error = wrapped(kOneWith2 - fixed_product(half, result));
    result = wrapped(result + saturated_16(int64_t{fixed_product(result, error)} * 4));
  }
  return result;
}

// Returns -|x|: unlike |x|, it exists for the lowest code, too.
int16_t negative_magnitude(int16_t x) {
  return x > 0 ? wrapped(-x) : x;
}

template <typename Wide, typename Narrow>
Narrow rounded_product(Narrow a, Narrow b) {
  constexpr Narrow kLowest = std::numeric_limits<Narrow>::min();
  if (a == kLowest && b == kLowest) return std::numeric_limits<Narrow>::max();
  constexpr Wide kHalf = Wide{1} << (std::numeric_limits<Narrow>::digits - 1);
  const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
  return static_cast<Narrow>((product + (product >= 0 ? kHalf : 1 - kHalf)) / (2 * kHalf));
}

}  // namespace

int16_t saturated_16(int64_t number) {
  return static_cast<int16_t>(std::clamp<int64_t>(number, std::numeric_limits<int16_t>::min(), kGreatest));
}

int32_t saturated_32(int64_t number) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(number, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

int32_t rounding_shift_right(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

int16_t fixed_product(int16_t a, int16_t b) {
  return rounded_product<int32_t>(a, b);
}

int32_t fixed_product(int32_t a, int32_t b) {
  return rounded_product<int64_t>(a, b);
}

Multiplier multiplier_of(double number) {
  constexpr int64_t kOne = int64_t{1} << 31;
  Multiplier result;
  int64_t mantissa = std::llround(std::frexp(number, &result.exponent) * static_cast<double>(kOne));
  if (mantissa == kOne) {
    mantissa /= 2;
    ++result.exponent;
  }
  if (result.exponent < -31) return {};
  result.mantissa = static_cast<int32_t>(mantissa);
  return result;
}

Multiplier inverse_square_root(int32_t variance) {
  constexpr int32_t kHalfRootOf2 = 1518500250;  // without integer bits
  constexpr int32_t kOneAndHalf = 3 << 27;      // with 3 integer bits, as all numbers of Newton's method here
  if (variance <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int exponent = -11;
  for (; variance >= 1 << 29; --exponent) variance /= 4;
  for (; variance < 1 << 27; ++exponent) variance *= 4;
  const int32_t half = rounding_shift_right(variance >> 1, 1);
  int32_t root = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = fixed_product(fixed_product(root, root), root);  // with 9 integer bits
    const int32_t cube_with_3 = saturated_32(int64_t{cube} * 64);
    const int64_t next = int64_t{fixed_product(kOneAndHalf, root)} - fixed_product(half, cube_with_3);  // with 6
    root = saturated_32(next * 8);
  }
  Multiplier result = {fixed_product(root, kHalfRootOf2), exponent};
  for (; result.exponent > 0; --result.exponent) result.mantissa *= 2;
  return result;
}

int32_t multiplied(int32_t x, const Multiplier& multiplier) {
  const int left = std::max(multiplier.exponent, 0), right = std::max(-multiplier.exponent, 0);
  const int32_t shifted = saturated_32(int64_t{x} * (int64_t{1} << std::min(left, 31)));
  return rounding_shift_right(fixed_product(shifted, multiplier.mantissa), right);
}

int16_t fixed_logistic(int16_t x, int integer_bits) {
  if (x == 0) return code_of(0.5, 0);
  const int16_t exp = exp_of_negative(negative_magnitude(x), integer_bits);
  const int16_t result = saturated_16(int64_t{reciprocal_of_half_of_one_plus(exp)} * 2);
  return x > 0 ? result : wrapped(kGreatest - result);
}

int16_t fixed_tanh(int16_t x, int integer_bits) {
  if (x == 0) return 0;
  // The code of x, read with one more integer bit, stands for 2x.
  const int16_t exp = exp_of_negative(negative_magnitude(x), integer_bits + 1);
  const int16_t result = saturated_16(int64_t{reciprocal_of_half_of_one_plus(exp) - kOneWith2} * 4);
  return x > 0 ? result : wrapped(-result);
}

}  // namespace nnapi_convert::host
