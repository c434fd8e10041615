// SPDX-License-Identifier: BSD-3-Clause
// Counts elements, bytes or multiply-adds. A Count is unknown if it depends on an unknown size, if int64_t can't hold
// it, or if it is computed from an unknown Count.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "lib/base/dim.h"

namespace nnapi_convert {

class Count {
 public:
  Count(int64_t value) : value_(value) {}     // NOLINT: numbers are counts
  Count(const std::optional<int64_t>& value)  // NOLINT: sizes may be unknown
      : value_(value.value_or(0)), is_known_(value.has_value()) {}

  std::optional<int64_t> value() const { return is_known_ ? std::optional<int64_t>(value_) : std::nullopt; }
  bool is_known() const { return is_known_; }
  int64_t value_or(int64_t other) const { return is_known_ ? value_ : other; }
  // Returns the number for comparisons of cost: an unknown Count is larger than any number.
  int64_t value_or_most() const { return value_or(std::numeric_limits<int64_t>::max()); }

  friend Count operator*(const Count& a, const Count& b) {
    Count result = 0;
    result.is_known_ = a.is_known_ && b.is_known_ && !__builtin_mul_overflow(a.value_, b.value_, &result.value_);
    return result;
  }
  friend Count operator+(const Count& a, const Count& b) {
    Count result = 0;
    result.is_known_ = a.is_known_ && b.is_known_ && !__builtin_add_overflow(a.value_, b.value_, &result.value_);
    return result;
  }
  Count& operator*=(const Count& other) { return *this = *this * other; }
  Count& operator+=(const Count& other) { return *this = *this + other; }
  // Returns the quotient; unknown if the divisor is 0.
  Count divided_by(int64_t divisor) const {
    Count result = divisor == 0 ? 0 : value_ / divisor;
    result.is_known_ = is_known_ && divisor != 0;
    return result;
  }
  friend bool operator==(const Count& a, const Count& b) {
    return a.is_known_ == b.is_known_ && (!a.is_known_ || a.value_ == b.value_);
  }

 private:
  int64_t value_;
  bool is_known_ = true;
};

// Returns the product of all sizes; 1 for an empty list.
template <typename Sizes>
Count product_of(const Sizes& sizes) {
  Count product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}
inline Count element_count(const Dims& dims) {
  Count count = 1;
  for (const Dim& dim : dims) count *= dim.fixed_value();
  return count;
}

}  // namespace nnapi_convert
