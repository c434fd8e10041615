// SPDX-License-Identifier: BSD-3-Clause
// Half precision: every number there and back, and rounding to the nearest, ties to even.
#include "lib/format/float16.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "lib/nnapi/constant.h"

using namespace nnapi_convert;

namespace {

// By the definition: 10 digits behind a leading 1, or units of 2^-24.
float number_of(uint16_t half) {
  const int exponent = (half >> 10) & 31, digits = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
  return static_cast<float>((half & 0x8000) != 0 ? -magnitude : magnitude);
}

}  // namespace

TEST_CASE("float16: every number there and back") {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const auto bits = static_cast<uint16_t>(half);
    if ((half & 0x7c00) == 0x7c00) continue;
    REQUIRE(float_of_float16(bits) == number_of(bits));
    REQUIRE(float16_bits(number_of(bits)) == bits);
  }
}

TEST_CASE("float16: numbers between two are rounded to the nearest, ties to even") {
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const auto next = static_cast<uint16_t>(half + 1);
    const float low = number_of(half), high = number_of(next);
    const float tie = low + (high - low) / 2;
    REQUIRE(float16_bits(tie) == (half % 2 == 0 ? half : next));
    REQUIRE(float16_bits(std::nextafter(tie, 0.0F)) == half);
    REQUIRE(float16_bits(std::nextafter(tie, high)) == next);
    REQUIRE(float16_bits(-tie) == ((half % 2 == 0 ? half : next) | 0x8000));
  }
}

TEST_CASE("float16: infinities, NaN, too large and tiny numbers") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(float16_bits(infinity) == 0x7c00);
  CHECK(float16_bits(-infinity) == 0xfc00);
  CHECK(float16_bits(65504) == 0x7bff);
  CHECK(float16_bits(65519.996F) == 0x7bff);
  CHECK(float16_bits(65520) == 0x7c00);
  CHECK(float16_bits(3e38F) == 0x7c00);
  CHECK(float16_bits(1e-40F) == 0);
  CHECK(float16_bits(-0.0F) == 0x8000);
  CHECK(std::isnan(float_of_float16(float16_bits(std::nanf("")))));
  CHECK(float_of_float16(0x7c00) == infinity);
  CHECK(float_of_float16(0xfc00) == -infinity);
}
