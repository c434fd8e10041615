// Bounds of integers and the arithmetic on them: float32 holds integers exactly up to 2^24 only, and NNAPI's int32 less
// than PyTorch's int64.
#pragma once

#include <cstdint>

namespace nnapi_convert {

constexpr double kExactInFloat32 = 1 << 24;

// Bounds of integers, both inclusive.
struct IntegerRange {
  double least = 0, greatest = 0;
  bool are_floats = false;  // each is one that float32 holds, however large: a float32 was rounded to it

  bool is_exact_in_float32() const { return are_floats || (least >= -kExactInFloat32 && greatest <= kExactInFloat32); }
  bool is_int32() const { return least >= INT32_MIN && greatest <= INT32_MAX; }
  IntegerRange joined(const IntegerRange& other) const;
};

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b);
IntegerRange operator-(const IntegerRange& a);
IntegerRange operator*(const IntegerRange& a, const IntegerRange& b);
// What rounding float32 gives.
IntegerRange rounded_floats();
// The quotient rounded in either way; the divisor is no 0.
IntegerRange quotient(const IntegerRange& a, const IntegerRange& b);

// Of the greater and the lesser one of two numbers.
IntegerRange greater_of(const IntegerRange& a, const IntegerRange& b);
IntegerRange lesser_of(const IntegerRange& a, const IntegerRange& b);

}  // namespace nnapi_convert
