// SPDX-License-Identifier: BSD-3-Clause
// Computes in fixed point for the quantised LSTM operations, and for products that round twice, with the same integer
// results as NNAPI, bit for bit.
//
// A 16-bit code with b integer bits stands for the number code * 2^(b - 15).
#pragma once

#include <cstdint>

namespace nnapi_convert::host {

int16_t saturated_16(int64_t number);
int32_t saturated_32(int64_t number);

// Returns x / 2^exponent; halves round away from zero. 0 <= exponent <= 31.
int32_t rounding_shift_right(int32_t x, int exponent);

// Returns a * b / 2^15 (or 2^31), rounded to the nearest integer and saturated: the product of two fixed-point numbers.
// The product has as many integer bits as both factors together.
int16_t fixed_product(int16_t a, int16_t b);
int32_t fixed_product(int32_t a, int32_t b);

// The factor mantissa / 2^31 * 2^exponent.
struct Multiplier {
  int32_t mantissa = 0;
  int exponent = 0;
};
Multiplier multiplier_of(double number);           // number >= 0
Multiplier inverse_square_root(int32_t variance);  // variance >= 1
int32_t multiplied(int32_t x, const Multiplier& multiplier);

constexpr int kGateIntegerBits = 3;  // integer bits of the sums before the activation of an LSTM's gates

// Return the logistic function and tanh of a number with `integer_bits` (0 to 6) integer bits; the results have none.
int16_t fixed_logistic(int16_t x, int integer_bits);
int16_t fixed_tanh(int16_t x, int integer_bits);

// Returns the sum of (a[i] - a_zero_point) * (b[i] - b_zero_point).
template <typename Code>
int64_t product_sum(const Code* a, int32_t a_zero_point, const Code* b, int32_t b_zero_point, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += int64_t{a[i] - a_zero_point} * (b[i] - b_zero_point);
  return sum;
}

}  // namespace nnapi_convert::host
