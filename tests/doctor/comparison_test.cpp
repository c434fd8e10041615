// SPDX-License-Identifier: BSD-3-Clause
// What the doctor calls right, wrong and half precision.
#include "tools/nnapi-probe/doctor/comparison.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "lib/format/float16.h"
#include "lib/format/nnapi_codes.h"

using namespace nnapi_doctor;

namespace {

constexpr auto kFloat = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_FLOAT32);
constexpr auto kQuant = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_QUANT8_ASYMM);
constexpr auto kInt = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_INT32);
constexpr uint32_t kRows = 64, kChannels = 4;

const TensorForm kForm = {kFloat, {kRows, kChannels}, 1};

// Channels of very different sizes.
std::vector<float> numbers() {
  std::vector<float> values;
  const float sizes[kChannels] = {1, 0.01F, 10, 0};
  for (uint32_t i = 0; i < kRows * kChannels; ++i) {
    values.push_back(sizes[i % kChannels] * std::sin(static_cast<float>(i) + 0.3F));
  }
  return values;
}

Comparison compared(const std::vector<float>& found) {
  const std::vector<float> expected = numbers();
  return compare(kForm, expected.data(), found.data(), tolerance_of(1, false));
}

}  // namespace

TEST_CASE("rounding is right") {
  std::vector<float> found = numbers();
  for (float& value : found) value *= 1.00001F;
  const Comparison result = compared(found);
  CHECK(!result.is_wrong);
  CHECK(result.wrong_channels == 0);
  CHECK(result.range == Approx(10).epsilon(0.01));
}

TEST_CASE("one channel of small numbers is wrong, and named") {
  std::vector<float> found = numbers();
  for (size_t i = 1; i < found.size(); i += kChannels) found[i] *= 1.2F;  // 0.0002 of the range
  const Comparison result = compared(found);
  CHECK(result.is_wrong);
  REQUIRE(result.wrong_channels == 1);
  CHECK(result.first_wrong[0] == 1);
  CHECK(result.channels == kChannels);
}

TEST_CASE("NaN is wrong where a number is expected, and right where NaN is") {
  std::vector<float> found = numbers();
  found[7] = std::nanf("");
  CHECK(compared(found).is_wrong);
  CHECK(compared(found).not_a_number == 1);
  const std::vector<float> same = found;
  CHECK(!compare(kForm, same.data(), found.data(), tolerance_of(1, false)).is_wrong);
  const std::vector<float> infinite(kRows * kChannels, std::numeric_limits<float>::infinity());
  const std::vector<float> saturated(kRows * kChannels, std::numeric_limits<float>::max());
  CHECK(!compare(kForm, saturated.data(), infinite.data(), tolerance_of(1, false)).is_wrong);
}

TEST_CASE("quantised results may differ by two quanta, and not by one everywhere") {
  const TensorForm form = {kQuant, {kRows, kChannels}, 1};
  std::vector<uint8_t> expected(kRows * kChannels, 100), found = expected;
  found[5] = 102;
  CHECK(!compare(form, expected.data(), found.data(), tolerance_of(1, false)).is_wrong);
  found[5] = 103;
  CHECK(compare(form, expected.data(), found.data(), tolerance_of(1, false)).is_wrong);
  found = expected;
  for (size_t i = 2; i < found.size(); i += kChannels) found[i] = 101;
  const Comparison shifted = compare(form, expected.data(), found.data(), tolerance_of(1, false));
  CHECK(shifted.is_wrong);
  CHECK(shifted.first_wrong[0] == 2);
}

TEST_CASE("floats that are computed from integers may differ by quanta") {
  const auto is_wrong = [](float steps, double step) {
    std::vector<float> found = numbers();
    for (size_t i = 2; i < found.size(); i += kChannels) found[i] += steps * 0.04F;
    Tolerance tolerance = tolerance_of(2, false);
    tolerance.step = step;
    return compare(kForm, numbers().data(), found.data(), tolerance).is_wrong;
  };
  CHECK(is_wrong(3, 0));
  for (const double step : {0.04, kStepOfRange}) {  // 10 / 255 is 0.039
    CHECK_FALSE(is_wrong(3, step));
    CHECK(is_wrong(7, step));  // of a quarter of all
    CHECK(is_wrong(9, step));
  }
}

TEST_CASE("few elements of channels are judged together") {
  const TensorForm form = {kQuant, {1, 6}, 1};
  const std::vector<uint8_t> expected(6, 100), near = {103, 97, 102, 101, 98, 100}, far = {104, 96, 104, 96, 104, 96};
  CHECK_FALSE(compare(form, expected.data(), near.data(), tolerance_of(2, false)).is_wrong);
  CHECK(compare(form, expected.data(), far.data(), tolerance_of(2, false)).is_wrong);
}

TEST_CASE("whole numbers are equal, but for one in a hundred") {
  const TensorForm form = {kInt, {1000}, 0};
  std::vector<int32_t> expected(1000, 3), found = expected;
  for (size_t i = 0; i < 10; ++i) found[i] = 4;
  CHECK(!compare(form, expected.data(), found.data(), tolerance_of(1, false)).is_wrong);
  found[10] = 4;
  CHECK(compare(form, expected.data(), found.data(), tolerance_of(1, false)).is_wrong);
}

TEST_CASE("half precision explains rounding, and no scale") {
  const std::vector<float> expected = numbers();
  std::vector<float> rounded, scaled;
  for (const float value : expected) {
    rounded.push_back(nnapi_convert::float_of_float16(nnapi_convert::float16_bits(value)));
    scaled.push_back(value * 1.02F);
  }
  CHECK(is_half_precision(kForm, expected.data(), rounded.data(), rounded.data(), 1));
  CHECK(is_half_precision(kForm, expected.data(), rounded.data(), expected.data(), 1));
  CHECK_FALSE(is_half_precision(kForm, expected.data(), scaled.data(), rounded.data(), 1));
}
