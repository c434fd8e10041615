// SPDX-License-Identifier: BSD-3-Clause
// Ranges of integers and arithmetic on ranges. Rules need them because float32 is exact only up to 2^24, and because
// NNAPI has int32 in place of PyTorch's int64.
#pragma once

#include <cstdint>
#include <optional>

namespace nnapi_convert {

constexpr double kExactInFloat32 = 1 << 24;

// The least and the greatest of some integers, both inclusive.
struct IntegerRange {
  double least = 0, greatest = 0;
  bool are_floats = false;  // float32 holds each of the integers exactly: each was made by rounding a float32

  bool is_exact_in_float32() const { return are_floats || (least >= -kExactInFloat32 && greatest <= kExactInFloat32); }
  bool is_int32() const { return least >= INT32_MIN && greatest <= INT32_MAX; }
  IntegerRange joined(const IntegerRange& other) const;
};

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b);
IntegerRange operator-(const IntegerRange& a);
IntegerRange operator*(const IntegerRange& a, const IntegerRange& b);
// Returns the range of float32 numbers rounded to integers.
IntegerRange rounded_floats();
// Returns the range of a product of any number of such factors; it is known only for bools and signs (-1, 0, 1).
std::optional<IntegerRange> product(const IntegerRange& factors);
// Returns the range of the quotient, rounded in any way; the divisor is never 0.
IntegerRange quotient(const IntegerRange& a, const IntegerRange& b);

// Return the range of the greater and of the lesser of two numbers.
IntegerRange greater_of(const IntegerRange& a, const IntegerRange& b);
IntegerRange lesser_of(const IntegerRange& a, const IntegerRange& b);

}  // namespace nnapi_convert
