// Fixed-point arithmetic of the quantised LSTM operations: integers in, integers out, to the last bit as NNAPI has it.
//
// A 16-bit number with b integer bits stands for its code times 2^(b - 15).
#pragma once

#include <cstdint>

namespace nnapi_convert::host {

int16_t saturated_16(int64_t number);
int32_t saturated_32(int64_t number);

// x / 2^exponent, halves away from zero. 0 <= exponent <= 31.
int32_t rounding_shift_right(int32_t x, int exponent);

// a * b / 2^15 or 2^31 to the nearest number, saturated: the product of two numbers in fixed point, with as many
// integer bits as both have together.
int16_t fixed_product(int16_t a, int16_t b);
int32_t fixed_product(int32_t a, int32_t b);

// mantissa / 2^31 * 2^exponent
struct Multiplier {
  int32_t mantissa = 0;
  int exponent = 0;
};
Multiplier multiplier_of(double number);           // of a number from 0 on
Multiplier inverse_square_root(int32_t variance);  // from 1 on
int32_t multiplied(int32_t x, const Multiplier& multiplier);

constexpr int kGateIntegerBits = 3;  // of the sums that an LSTM's gates are computed from

// Of a number with `integer_bits` integer bits, 0 to 6; the result has none.
int16_t fixed_logistic(int16_t x, int integer_bits);
int16_t fixed_tanh(int16_t x, int integer_bits);

// The sum of the products of the numbers that codes stand for in units of their scales.
template <typename Code>
int64_t product_sum(const Code* a, int32_t a_zero_point, const Code* b, int32_t b_zero_point, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += int64_t{a[i] - a_zero_point} * (b[i] - b_zero_point);
  return sum;
}

}  // namespace nnapi_convert::host
