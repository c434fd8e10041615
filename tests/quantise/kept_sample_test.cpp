// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/kept_sample.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <limits>

namespace nnapi_convert::quantise {
namespace {

constexpr size_t kSide = 40;

Bytes bytes_of_floats(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// As a network takes a picture: (pixel / 255 - mean) / std, with another mean for each channel.
float number(size_t pixel, size_t channel) {
  return (static_cast<float>(pixel * 7 % 256) / 255 - 0.4F - 0.01F * static_cast<float>(channel)) / 0.225F;
}

Bytes picture(bool is_interleaved) {
  std::vector<float> values(3 * kSide * kSide);
  for (size_t pixel = 0; pixel < kSide * kSide; ++pixel) {
    for (size_t channel = 0; channel < 3; ++channel) {
      values[is_interleaved ? pixel * 3 + channel : channel * kSide * kSide + pixel] = number(pixel, channel);
    }
  }
  return bytes_of_floats(values);
}

// Throws away nothing: the sample comes back as it was.
KeptSample checked(const Bytes& input) {
  const Sample sample{{{1, 3, kSide, kSide}}, {input}};
  KeptSample kept(sample);
  const Sample found = kept.sample();
  CHECK(found.shapes == sample.shapes);
  CHECK(found.inputs == sample.inputs);
  return kept;
}

TEST_CASE("kept_sample: pictures are kept as a byte for each number, and come back bit for bit") {
  for (const bool is_interleaved : {true, false}) {
    const Bytes input = picture(is_interleaved);
    CHECK(checked(input).kept_bytes() <= input.size() / 4 + size_t{3} * 256 * 4);
  }
  std::vector<float> brightness;
  for (size_t pixel = 0; pixel < kSide * kSide; ++pixel) brightness.push_back(number(pixel, 0));
  CHECK(checked(bytes_of_floats(brightness)).kept_bytes() < kSide * kSide * 4 / 2);
}

TEST_CASE("kept_sample: what has many different numbers is kept as it is") {
  std::vector<float> values;
  for (size_t i = 0; i < 3 * kSide * kSide; ++i) values.push_back(static_cast<float>(i) * 0.25F);
  const Bytes input = bytes_of_floats(values);
  CHECK(checked(input).kept_bytes() == input.size());
  // One number too many in the last channel.
  Bytes nearly = picture(true);
  const float other = -77;
  std::memcpy(nearly.data() + nearly.size() - sizeof(other), &other, sizeof(other));
  CHECK(checked(nearly).kept_bytes() == nearly.size());
}

TEST_CASE("kept_sample: signs of zero, NaN and odd sizes come back") {
  std::vector<float> values(2048, 0.0F);
  values[7] = -0.0F;
  values[9] = std::numeric_limits<float>::quiet_NaN();
  checked(bytes_of_floats(values));
  checked(Bytes(4099, 3));
  checked(Bytes(12, 1));
  checked({});
}

}  // namespace
}  // namespace nnapi_convert::quantise
