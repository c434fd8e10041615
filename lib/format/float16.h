// SPDX-License-Identifier: BSD-3-Clause
// Converts between float32 and the bits of IEEE 754's half precision (binary16).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace nnapi_convert {

constexpr float kMostFloat16 = 65504.0F;                 // the largest finite number
constexpr float kLeastNormalFloat16 = 1.0F / (1 << 14);  // smaller ones have fewer digits

// Rounds to the nearest number, ties to even. Too large numbers become infinite; NaN stays NaN.
inline uint16_t float16_bits(float value) {
  uint32_t bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  constexpr uint32_t kInfinity = 0x7f800000U, kOverflow = 0x477ff000U, kLeastNormal = 0x38800000U;
  if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7e00U);
  if (magnitude >= kOverflow) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < kLeastNormal) {
    // The sum with 0.5 leaves the half's digits, rounded, in the lowest bits: their unit is 2^-24 in both.
    const float shifted = std::fabs(value) + 0.5F;
    uint32_t digits;
    std::memcpy(&digits, &shifted, sizeof digits);
    return static_cast<uint16_t>(sign | (digits - 0x3f000000U));
  }
  const uint32_t odd = (magnitude >> 13) & 1U;
  return static_cast<uint16_t>(sign | ((magnitude - (112U << 23) + 0xfffU + odd) >> 13));
}

// Returns the float32 of the same value; every float16 has one.
inline float float_of_float16(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffU;
  uint32_t bits = static_cast<uint32_t>(half & 0x8000U) << 16;
  if (magnitude >= 0x7c00U) {
    bits |= 0x7f800000U | ((magnitude & 0x3ffU) << 13);
  } else if (magnitude >= 0x0400U) {
    bits |= (magnitude << 13) + (112U << 23);
  } else {
    const float value = static_cast<float>(magnitude) / (1 << 24);
    uint32_t digits;
    std::memcpy(&digits, &value, sizeof digits);
    bits |= digits;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace nnapi_convert
