// SPDX-License-Identifier: BSD-3-Clause
// Tests the execution of models: sizes, shapes, states, threads and exact sums.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;
using nnapi_convert::ResultCode;

namespace {

constexpr int kBadData = static_cast<int>(ResultCode::BAD_DATA);
constexpr int kBadState = static_cast<int>(ResultCode::BAD_STATE);
constexpr int kTooSmall = static_cast<int>(ResultCode::OUTPUT_INSUFFICIENT_SIZE);

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;

// relu(a + b), with the given extents of a and the output.
ModelSpec sum(const std::vector<uint32_t>& dims, const std::vector<uint32_t>& output_dims) {
  ModelSpec spec;
  spec.add(tensor(kFloat, dims));
  spec.add(constant(kFloat, {1}, std::vector<float>{-1.5f}));
  spec.add(int32(1));
  spec.add(tensor(kFloat, output_dims));
  spec.operations = {{OperationCode::ADD, {0, 1, 2}, {3}}};
  spec.inputs = {0};
  spec.outputs = {3};
  return spec;
}

ModelSpec float_conv(uint32_t extent) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<float> filter(8 * 9 * 4), bias(8);
  for (float& weight : filter) weight = numbers(random);
  for (float& offset : bias) offset = numbers(random);
  ModelSpec spec;
  spec.add(tensor(kFloat, {1, extent, extent, 4}));
  spec.add(constant(kFloat, {8, 3, 3, 4}, filter));
  spec.add(constant(kFloat, {8}, bias));
  for (const int32_t value : {1, 1, 1, 1, 0}) spec.add(int32(value));  // SAME, strides 1, no activation
  spec.operations = {{OperationCode::CONV_2D, {0, 1, 2, 3, 4, 5, 7}, {8}}};
  spec.add(tensor(kFloat, {1, extent, extent, 8}));
  spec.inputs = {0};
  spec.outputs = {8};
  return spec;
}

int set_float_input(ANeuralNetworksExecution* execution, const std::vector<uint32_t>& dims,
                    const std::vector<float>& values) {
  const OperandSpec given = tensor(kFloat, dims);
  const ANeuralNetworksOperandType type = type_of(given);
  return ANeuralNetworksExecution_setInput(execution, 0, &type, values.data(), values.size() * sizeof(float));
}

std::vector<uint32_t> output_dims(ANeuralNetworksExecution* execution, int expected_code = 0) {
  uint32_t rank = 0;
  CHECK(ANeuralNetworksExecution_getOutputOperandRank(execution, 0, &rank) == expected_code);
  std::vector<uint32_t> dims(rank);
  CHECK(ANeuralNetworksExecution_getOutputOperandDimensions(execution, 0, dims.data()) == expected_code);
  return dims;
}

}  // namespace

TEST_CASE("inputs and outputs of a wrong size or type", "[execution]") {
  const ModelSpec spec = sum({2, 2}, {2, 2});
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  std::vector<float> buffer(8);
  StderrCapture capture;
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, buffer.data(), 12) == kBadData);
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 1, nullptr, buffer.data(), 16) == kBadData);
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), -1, nullptr, buffer.data(), 16) == kBadData);
  CHECK(set_float_input(execution.get(), {2, 3}, std::vector<float>(6)) == kBadData);
  CHECK(set_float_input(execution.get(), {4}, std::vector<float>(4)) == kBadData);
  const OperandSpec codes = tensor(OperandCode::TENSOR_QUANT8_ASYMM, {2, 2}, 1);
  const ANeuralNetworksOperandType type = type_of(codes);
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 0, &type, buffer.data(), 4) == kBadData);
  CHECK(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, buffer.data(), 20) == kBadData);
  CHECK(ANeuralNetworksExecution_compute(execution.get()) == kBadData);
  const std::string sentences = capture.text();
  for (const char* part :
       {"input 0: 12 bytes found, 16 needed", "input index 1 found, below 1 needed",
        "input 0: dimensions [2, 3] found, [2, 2] needed", "input 0: dimensions [4] found, [2, 2] needed",
        "input 0: type TENSOR_QUANT8_ASYMM found, TENSOR_FLOAT32 needed", "output 0: 20 bytes found, 16 needed",
        "compute: input 0 is not set"}) {
    INFO(sentences);
    CHECK(sentences.find(part) != std::string::npos);
  }
}

TEST_CASE("an input's scale has to be the model's", "[execution]") {
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {3}, 0.5f, 10));
  spec.add(tensor(kFloat, {3}));
  spec.operations = {{OperationCode::DEQUANTIZE, {0}, {1}}};
  spec.inputs = {0};
  spec.outputs = {1};
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  const std::vector<uint8_t> codes = {0, 10, 255};
  StderrCapture capture;
  const OperandSpec other = tensor(OperandCode::TENSOR_QUANT8_ASYMM, {3}, 0.25f, 10);
  const ANeuralNetworksOperandType type = type_of(other);
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 0, &type, codes.data(), 3) == kBadData);
  CHECK(capture.text().find("input 0: scale 0.25, zero point 10 found, 0.5, 10 needed") != std::string::npos);
  CHECK(compute(compiled, {codes}, 12) == bytes_of(std::vector<float>{-5, 0, 122.5f}));
}

TEST_CASE("unknown extents come from the execution", "[execution]") {
  const ModelSpec spec = sum({0, 2}, {0, 0});
  const Compiled compiled(spec);
  for (const uint32_t rows : {1u, 3u, 2u}) {
    const Execution execution = new_execution(compiled);
    std::vector<float> input(rows * 2), output(rows * 2), expected(rows * 2);
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<float>(i);
      expected[i] = std::max(0.0f, input[i] - 1.5f);
    }
    REQUIRE(set_float_input(execution.get(), {rows, 2}, input) == 0);
    REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), output.size() * 4) == 0);
    REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
    CHECK(output == expected);
    CHECK(output_dims(execution.get()) == std::vector<uint32_t>{rows, 2});
  }
}

TEST_CASE("an input of unknown extents needs a type", "[execution]") {
  const ModelSpec spec = sum({0, 2}, {0, 0});
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  const std::vector<float> input(4);
  StderrCapture capture;
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), 16) == kBadData);
  CHECK(capture.text().find("input 0: dimensions [?, 2] found, known ones needed") != std::string::npos);
}

TEST_CASE("an output buffer that is too small", "[execution]") {
  const ModelSpec spec = sum({0}, {0});
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  const std::vector<float> input = {1, 2, 3};
  std::vector<float> output(2, 9);
  StderrCapture capture;
  REQUIRE(set_float_input(execution.get(), {3}, input) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), 8) == 0);
  CHECK(ANeuralNetworksExecution_compute(execution.get()) == kTooSmall);
  CHECK(output_dims(execution.get(), kTooSmall) == std::vector<uint32_t>{3});
  CHECK(output == std::vector<float>{9, 9});
  CHECK(capture.text().find("output 0: 8 bytes found, 12 needed") != std::string::npos);
}

TEST_CASE("an execution runs once", "[execution]") {
  const ModelSpec spec = sum({2}, {2});
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  const std::vector<float> input = {1, 4};
  std::vector<float> output(2);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), 8) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), 8) == 0);
  StderrCapture capture;
  uint32_t rank = 0;
  CHECK(ANeuralNetworksExecution_getOutputOperandRank(execution.get(), 0, &rank) == kBadState);
  ANeuralNetworksEvent* event = nullptr;
  REQUIRE(ANeuralNetworksExecution_startCompute(execution.get(), &event) == 0);
  CHECK(ANeuralNetworksEvent_wait(event) == 0);
  ANeuralNetworksEvent_free(event);
  CHECK(output == std::vector<float>{0, 2.5f});
  CHECK(ANeuralNetworksExecution_compute(execution.get()) == kBadState);
  CHECK(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), 8) == kBadState);
  CHECK(ANeuralNetworksCompilation_finish(compiled.compilation.get()) == kBadState);
  CHECK(ANeuralNetworksCompilation_setPreference(compiled.compilation.get(), 1) == kBadState);
}

TEST_CASE("values that only an execution knows are checked there", "[execution]") {
  ModelSpec spec;
  spec.add(tensor(kFloat, {4}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {2}));
  spec.add(tensor(kFloat, {0, 0}));
  spec.operations = {{OperationCode::RESHAPE, {0, 1}, {2}}};
  spec.inputs = {0, 1};
  spec.outputs = {2};
  const Compiled compiled(spec);
  const std::vector<uint8_t> input = bytes_of(std::vector<float>{1, 2, 3, 4});
  CHECK(compute(compiled, {input, bytes_of(std::vector<int32_t>{2, 2})}, 16) == input);
  StderrCapture capture;
  CHECK_THROWS(compute(compiled, {input, bytes_of(std::vector<int32_t>{2, 3})}, 16));
  CHECK(capture.text().find("operation 0 (RESHAPE), argument shape: [2, 3] found, 4 elements needed") !=
        std::string::npos);
}

TEST_CASE("executions of one compilation run at the same time", "[execution][threads]") {
  constexpr uint32_t kExtent = 24;
  constexpr std::size_t kInputs = kExtent * kExtent * 4, kOutputs = kExtent * kExtent * 8;
  const ModelSpec spec = float_conv(kExtent);
  const auto input = [](unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> numbers(-1, 1);
    std::vector<float> values(kInputs);
    for (float& value : values) value = numbers(random);
    return bytes_of(values);
  };
  std::vector<std::vector<uint8_t>> expected;
  {
    const Compiled alone(spec);
    for (unsigned seed = 0; seed < 6; ++seed) expected.push_back(compute(alone, {input(seed)}, kOutputs * 4));
  }
  REQUIRE(std::set<std::vector<uint8_t>>(expected.begin(), expected.end()).size() == 6);
  const Compiled shared(spec);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned i = 0; i < 12; ++i) {
        const unsigned seed = (thread + i) % 6;
        if (compute(shared, {input(seed)}, kOutputs * 4) != expected[seed]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("quantised sums are exact however deep", "[execution]") {
  // Depths whose sums fit in a float, in pieces, in two halves of the weights, and in a double only. The bias takes
  // most of each large sum away again, so that an error of 1 in it shows.
  const uint32_t depth = GENERATE(16u, 1500u, 3000u, 40000u);
  const auto input_zero = GENERATE(uint8_t{0}, uint8_t{100}), filter_zero = GENERATE(uint8_t{0}, uint8_t{128});
  constexpr uint32_t kUnits = 5, kPixels = 6;
  constexpr uint8_t kOutputZero = 100;
  std::mt19937 random(depth);
  std::vector<uint8_t> pixel(depth), input, filter(kUnits * depth), expected(kPixels * kUnits);
  for (uint8_t& code : pixel) code = static_cast<uint8_t>(random() % 256);
  for (uint8_t& code : filter) code = static_cast<uint8_t>(random() % 256);
  pixel[depth - 1] = input_zero;
  std::vector<int32_t> bias(kUnits);
  for (uint32_t unit = 0; unit < kUnits; ++unit) {
    filter[(unit + 1) * depth - 1] = static_cast<uint8_t>(filter_zero + 3 + 7 * unit);
    for (uint32_t k = 0; k < depth; ++k) {
      bias[unit] -= (pixel[k] - input_zero) * (filter[unit * depth + k] - filter_zero);
    }
  }
  for (uint32_t p = 0; p < kPixels; ++p) {
    input.insert(input.end(), pixel.begin(), pixel.end());
    input.back() = static_cast<uint8_t>(input_zero + p);
    for (uint32_t unit = 0; unit < kUnits; ++unit) {
      expected[p * kUnits + unit] = static_cast<uint8_t>(kOutputZero + p * (3 + 7 * unit));
    }
  }
  REQUIRE(std::set<uint8_t>(expected.begin(), expected.end()).size() > 20);

  const OperandCode type = OperandCode::TENSOR_QUANT8_ASYMM;
  ModelSpec spec;
  spec.add(tensor(type, {1, 2, 3, depth}, 1, input_zero));
  spec.add(constant(type, {kUnits, 1, 1, depth}, filter, 1, filter_zero));
  spec.add(constant(OperandCode::TENSOR_INT32, {kUnits}, bias, 1));
  for (const int32_t value : {2, 1, 1, 0}) spec.add(int32(value));  // VALID, strides 1, no activation
  spec.add(tensor(type, {1, 2, 3, kUnits}, 1, kOutputZero));
  spec.operations = {{OperationCode::CONV_2D, {0, 1, 2, 3, 4, 5, 6}, {7}}};
  spec.inputs = {0};
  spec.outputs = {7};
  CHECK(compute(Compiled(spec), {input}, expected.size()) == expected);

  ModelSpec dense;
  dense.add(tensor(type, {kPixels, depth}, 1, input_zero));
  dense.add(constant(type, {kUnits, depth}, filter, 1, filter_zero));
  dense.add(constant(OperandCode::TENSOR_INT32, {kUnits}, bias, 1));
  dense.add(int32(0));
  dense.add(tensor(type, {kPixels, kUnits}, 1, kOutputZero));
  dense.operations = {{OperationCode::FULLY_CONNECTED, {0, 1, 2, 3}, {4}}};
  dense.inputs = {0};
  dense.outputs = {4};
  CHECK(compute(Compiled(dense), {input}, expected.size()) == expected);
}

TEST_CASE("layouts agree", "[execution]") {
  // The same convolution on NHWC and on NCHW.
  constexpr uint32_t kExtent = 7;
  ModelSpec nhwc = float_conv(kExtent);
  ModelSpec nchw = nhwc;
  nchw.operands[0].dims = {1, 4, kExtent, kExtent};
  nchw.operands[8].dims = {1, 8, kExtent, kExtent};
  nchw.operations[0].inputs.push_back(nchw.add(boolean(true)));
  std::vector<float> pixels(kExtent * kExtent * 4), planes(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::sin(static_cast<float>(i));
  for (std::size_t p = 0; p < kExtent * kExtent; ++p) {
    for (std::size_t c = 0; c < 4; ++c) planes[c * kExtent * kExtent + p] = pixels[p * 4 + c];
  }
  const std::size_t bytes = kExtent * kExtent * 8 * 4;
  const auto first = compute(Compiled(nhwc), {bytes_of(pixels)}, bytes);
  const auto second = compute(Compiled(nchw), {bytes_of(planes)}, bytes);
  std::vector<float> a(bytes / 4), b(bytes / 4);
  std::memcpy(a.data(), first.data(), bytes);
  std::memcpy(b.data(), second.data(), bytes);
  for (std::size_t p = 0; p < kExtent * kExtent; ++p) {
    for (std::size_t c = 0; c < 8; ++c) {
      REQUIRE(a[p * 8 + c] == Approx(b[c * kExtent * kExtent + p]).margin(1e-5));
    }
  }
  CHECK(*std::max_element(a.begin(), a.end()) - *std::min_element(a.begin(), a.end()) > 1);
}
