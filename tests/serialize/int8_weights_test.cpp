// SPDX-License-Identifier: BSD-3-Clause
// float32 weights as int8 with a scale for each channel.
#include "lib/serialize/int8_weights.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "lib/format/buffer_format.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/nnapi/builder.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/shim_buffer_writer.h"

using namespace nnapi_convert;

namespace {

std::vector<float> random_numbers(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(engine);
  return numbers;
}

std::vector<float> restored(const Int8Weight& weight) {
  const std::vector<uint8_t> bytes = weight.value.bytes();
  const std::vector<int64_t>& shape = weight.value.shape();
  size_t inner = 1;
  for (size_t i = weight.channels->axis + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  std::vector<float> numbers;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t channel = i / inner % weight.channels->scales.size();
    numbers.push_back(static_cast<float>(static_cast<int8_t>(bytes[i])) * weight.channels->scales[channel]);
  }
  return numbers;
}

// FULLY_CONNECTED of [1, 64] with weights of [40, 64].
nnapi::Model layer(std::vector<float> weights) {
  nnapi::Model model;
  nnapi::Builder builder(model);
  const nnapi::OperandId input = builder.variable({OperandCode::TENSOR_FLOAT32, {1, 64}, 0, 0, {}});
  const nnapi::OperandId filter = builder.tensor(nnapi::Constant::of_floats(std::move(weights), {40, 64}));
  const nnapi::OperandId bias = builder.tensor(nnapi::Constant::of_floats(std::vector<float>(40, 0.5f)));
  builder.set_source("net.py:7");
  model.outputs = {{builder.add(OperationCode::FULLY_CONNECTED, {input, filter, bias, builder.int32(0)},
                                {OperandCode::TENSOR_FLOAT32, {1, 40}, 0, 0, {}})}};
  model.inputs = {{input}};
  return model;
}

}  // namespace

TEST_CASE("int8 weights: each number is near, and each channel's errors cancel") {
  const std::vector<float> numbers = random_numbers(40 * 300, 1);
  const auto weight = round_to_int8(nnapi::Constant::of_floats(numbers, {40, 300}), 0);
  REQUIRE(weight);
  REQUIRE(weight->channels->axis == 0);
  REQUIRE(weight->channels->scales.size() == 40);
  const std::vector<float> found = restored(*weight);
  double error_power = 0, power = 0;
  for (size_t channel = 0; channel < 40; ++channel) {
    const float scale = weight->channels->scales[channel];
    double sum = 0;
    for (size_t i = 300 * channel; i < 300 * (channel + 1); ++i) {
      CHECK(std::fabs(found[i] - numbers[i]) <= scale);
      sum += static_cast<double>(found[i]) - numbers[i];
      error_power += std::pow(static_cast<double>(found[i]) - numbers[i], 2);
      power += std::pow(static_cast<double>(numbers[i]), 2);
    }
    CHECK(std::fabs(sum) <= 0.51 * static_cast<double>(scale));
  }
  CHECK(weight->noise == Approx(error_power / power).epsilon(1e-3));
  CHECK(weight->noise < 1e-4);
}

TEST_CASE("int8 weights: numbers on a grid stay what they are") {
  std::mt19937 engine(2);
  for (const int steps : {3, 50, 100, 127}) {
    INFO(steps);
    std::uniform_int_distribution<int> integers(-steps, steps);
    std::vector<float> numbers(8 * 100);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float step = 0.037f * static_cast<float>(1 + i / 100);
      numbers[i] = step * static_cast<float>(i % 100 == 0 ? steps : integers(engine));
    }
    const auto weight = round_to_int8(nnapi::Constant::of_floats(numbers, {8, 100}), 0);
    REQUIRE(weight);
    const std::vector<float> found = restored(*weight);
    for (size_t i = 0; i < numbers.size(); ++i) CHECK(found[i] == Approx(numbers[i]).epsilon(1e-5));
    CHECK(weight->noise < 1e-9);
  }
}

TEST_CASE("int8 weights: channels of the last axis, and channels of zeros") {
  std::vector<float> numbers = random_numbers(9 * 32, 3);
  for (size_t i = 5; i < numbers.size(); i += 32) numbers[i] = 0;
  for (size_t i = 6; i < numbers.size(); i += 32) numbers[i] *= 1000;
  const auto weight = round_to_int8(nnapi::Constant::of_floats(numbers, {1, 3, 3, 32}), 3);
  REQUIRE(weight);
  CHECK(weight->channels->axis == 3);
  CHECK(weight->channels->scales[5] > 0);
  const std::vector<float> found = restored(*weight);
  for (size_t i = 0; i < numbers.size(); ++i) {
    CHECK(std::fabs(found[i] - numbers[i]) <= weight->channels->scales[i % 32]);
  }
}

TEST_CASE("int8 weights: numbers that are not finite have no int8 form") {
  std::vector<float> numbers = random_numbers(600, 4);
  numbers[17] = std::numeric_limits<float>::infinity();
  CHECK(!round_to_int8(nnapi::Constant::of_floats(numbers, {2, 300}), 0));
  numbers[17] = std::numeric_limits<float>::quiet_NaN();
  CHECK(!round_to_int8(nnapi::Constant::of_floats(numbers, {2, 300}), 0));
}

TEST_CASE("int8 weights: candidates are large weights of several numbers for each scale") {
  nnapi::Model model = layer(random_numbers(40 * 64, 5));
  const std::vector<Int8Candidate> candidates = int8_candidates(model);
  REQUIRE(candidates.size() == 1);  // the bias has one number for each channel
  CHECK(candidates[0].name == "FULLY_CONNECTED at net.py:7");
  CHECK(candidates[0].element_count() == 40 * 64);
  nnapi::Model small = layer(random_numbers(40 * 64, 5));
  nnapi::Operand& filter = small.at(small.operations[0].inputs[1]);
  filter.dims = {40, 3};
  filter.value = nnapi::Constant::of_floats(random_numbers(120, 6), {40, 3});
  CHECK(int8_candidates(small).empty());
}

TEST_CASE("int8 weights: both buffers hold a float operand and integers") {
  nnapi::Model model = layer(random_numbers(40 * 64, 7));
  const std::vector<Int8Candidate> candidates = int8_candidates(model);
  REQUIRE(candidates.size() == 1);
  store_as_int8(candidates[0]);
  const auto filter = static_cast<size_t>(candidates[0].operand);

  const SerializedModel serialized = write_buffer(model);
  REQUIRE(serialized.buffers.size() == 2);
  CHECK(serialized.has_int8());
  CHECK(serialized.scales[0] != nullptr);
  CHECK(serialized.scales[1] == nullptr);
  CHECK(serialized.buffers[0].byte_count() == 40 * 64);
  const BufferModel stock = read_buffer(serialized.words.data(), serialized.words.size());
  CHECK(stock.operands[filter].type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32));

  ShimBufferRequest request{model};
  request.arguments = {{1, 64}};
  request.names = {"x"};
  const ShimBuffer buffer = write_shim_buffer(request);
  CHECK(buffer.words[buffer_format_v2::kVersionWord] == buffer_format_v2::kInt8Version);
  const BufferModel shim = read_shim_buffer(buffer.words.data(), buffer.words.size());
  CHECK(shim.operands[filter].type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32));
  CHECK(shim.operands[filter].channel_axis == 0);
  CHECK(shim.operands[filter].channel_scales.size() == 40);
  CHECK(shim.samples.empty());
}

TEST_CASE("int8 weights: what is told of them") {
  StoredWeights stored;
  stored.weights = {{"CONV_2D at a.py:1", 100, true}, {"CONV_2D at a.py:2", 100, false}};
  stored.error = 0.0042;
  stored.samples = 4;
  CHECK(to_text(stored) ==
        "--int8-weights: 1 of 2 weights stored as int8, error at most 0.42 % of an output's range on 4 seeded samples; "
        "for more it would be too large, so that 1 stays float32: CONV_2D at a.py:2\n");
  stored.weights[1].is_int8 = true;
  stored.samples = 0;
  CHECK(to_text(stored) == "--int8-weights: 2 of 2 weights stored as int8\n");
}
