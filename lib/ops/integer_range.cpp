// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/integer_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nnapi_convert {

IntegerRange IntegerRange::joined(const IntegerRange& other) const {
  const bool are_exact = is_exact_in_float32() && other.is_exact_in_float32();
  return {std::min(least, other.least), std::max(greatest, other.greatest), are_exact};
}

IntegerRange operator+(const IntegerRange& a, const IntegerRange& b) {
  return {a.least + b.least, a.greatest + b.greatest};
}

IntegerRange operator-(const IntegerRange& a) {
  return {-a.greatest, -a.least, a.are_floats};
}

IntegerRange rounded_floats() {
  return {static_cast<double>(INT64_MIN), static_cast<double>(INT64_MAX), true};
}

IntegerRange operator*(const IntegerRange& a, const IntegerRange& b) {
  const auto [least, greatest] =
      std::minmax({a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest});
  return {least, greatest};
}

std::optional<IntegerRange> product(const IntegerRange& factors) {
  if (factors.least < -1 || factors.greatest > 1) return std::nullopt;
  return IntegerRange{std::min(factors.least, 0.0), 1};
}

IntegerRange quotient(const IntegerRange& a, const IntegerRange& b) {
  if (b.greatest < 0) return quotient(-a, -b);
  const double size = std::max(std::abs(a.least), std::abs(a.greatest));
  if (b.least <= 0) return {-size, size};  // by 1 or -1 at least
  return {std::min(0.0, std::floor(a.least / b.least)), std::max(0.0, std::ceil(a.greatest / b.least))};
}

IntegerRange greater_of(const IntegerRange& a, const IntegerRange& b) {
  return {std::max(a.least, b.least), std::max(a.greatest, b.greatest),
          a.is_exact_in_float32() && b.is_exact_in_float32()};
}

IntegerRange lesser_of(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.least, b.least), std::min(a.greatest, b.greatest),
          a.is_exact_in_float32() && b.is_exact_in_float32()};
}

}  // namespace nnapi_convert
