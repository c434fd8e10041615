// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of elements, for float, double and int64_t: whole numbers overflow as unsigned ones do.
#pragma once

#include <cstdint>

namespace nnapi_shim::program {

template <typename T>
T sum(T a, T b) {
  return a + b;
}
template <>
inline int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T product(T a, T b) {
  return a * b;
}
template <>
inline int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
T difference(T a, T b) {
  return a - b;
}
template <>
inline int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T>
bool is_nan(T a) {
  return a != a;
}

// Functions for kernels (mapping.h): the greater or the less of two elements; NaN if one is NaN.
struct Maximum {
  template <typename T>
  static T of(T a, T b) {
    return is_nan(a) || a > b ? a : b;
  }
};
struct Minimum {
  template <typename T>
  static T of(T a, T b) {
    return is_nan(a) || a < b ? a : b;
  }
};
// a + alpha * b, or with kReversed b + alpha * a.
template <bool kReversed>
struct AddScaled {
  template <typename T>
  static T of(T a, T b, const T* alpha) {
    return kReversed ? sum(b, product(alpha[0], a)) : sum(a, product(alpha[0], b));
  }
};

}  // namespace nnapi_shim::program
