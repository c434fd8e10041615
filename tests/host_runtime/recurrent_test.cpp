// SPDX-License-Identifier: BSD-3-Clause
// Tests results of the recurrent layers that Android's cases do not test: clipping, activations, and in QUANTIZED_LSTM
// zero points, peepholes and biases without layer normalization. The reference is an LSTM cell in doubles.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "tests/host_runtime/layer_spec.h"

using namespace model_spec;

namespace {

using Numbers = std::vector<double>;

constexpr uint32_t kFeatures = 6, kUnits = 5, kOutputs = 4;

double activated(double x, int32_t activation) {
  switch (activation) {
    case 1:
      return std::max(x, 0.0);
    case 3:
      return std::clamp(x, 0.0, 6.0);
    case 4:
      return std::tanh(x);
    case 6:
      return 1 / (1 + std::exp(-x));
    default:
      return x;
  }
}

double clipped(double x, double bound) {
  return bound > 0 ? std::clamp(x, -bound, bound) : x;
}

// A cell for one row, its arguments by name.
struct Cell {
  std::map<std::string, Numbers> values;
  int32_t activation = 4;
  double cell_clip = 0, projection_clip = 0;

  struct State {
    Numbers output, cell;
  };

  double product(const std::string& matrix, std::size_t row, const Numbers& vector) const {
    const Numbers& weights = values.at(matrix);
    double sum = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) sum += weights[row * vector.size() + i] * vector[i];
    return sum;
  }

  double gate(const std::string& name, std::size_t unit, const Numbers& state) const {
    double sum = values.at(name + "_gate_bias")[unit];
    sum += product("input_to_" + name + "_weights", unit, values.at("input"));
    sum += product("recurrent_to_" + name + "_weights", unit, values.at("output_state_in"));
    const auto peephole = values.find("cell_to_" + name + "_weights");
    return peephole == values.end() ? sum : sum + peephole->second[unit] * state[unit];
  }

  State step() const {
    const Numbers& before = values.at("cell_state_in");
    State after;
    for (std::size_t i = 0; i < kUnits; ++i) {
      const double kept = activated(gate("forget", i, before), 6) * before[i];
      const double added = activated(gate("input", i, before), 6) * activated(gate("cell", i, before), activation);
      after.cell.push_back(clipped(kept + added, cell_clip));
    }
    Numbers hidden;
    for (std::size_t i = 0; i < kUnits; ++i) {
      hidden.push_back(activated(gate("output", i, after.cell), 6) * activated(after.cell[i], activation));
    }
    for (std::size_t i = 0; i < kOutputs; ++i) {
      const double sum = product("projection_weights", i, hidden) + values.at("projection_bias")[i];
      after.output.push_back(clipped(sum, projection_clip));
    }
    return after;
  }
};

std::map<std::string, std::vector<uint32_t>> lstm_dims() {
  std::map<std::string, std::vector<uint32_t>> dims;
  for (const std::string& gate : kGates) {
    dims["input_to_" + gate + "_weights"] = {kUnits, kFeatures};
    dims["recurrent_to_" + gate + "_weights"] = {kUnits, kOutputs};
    dims[gate + "_gate_bias"] = {kUnits};
    if (gate != "cell") dims["cell_to_" + gate + "_weights"] = {kUnits};
  }
  dims["projection_weights"] = {kOutputs, kUnits};
  dims["projection_bias"] = {kOutputs};
  dims["input"] = {1, kFeatures};
  dims["output_state_in"] = {1, kOutputs};
  dims["cell_state_in"] = {1, kUnits};
  return dims;
}

std::size_t count_of(const std::vector<uint32_t>& dims) {
  std::size_t count = 1;
  for (const uint32_t extent : dims) count *= extent;
  return count;
}

// The outputs of a layer without inputs, as bytes.
std::vector<std::vector<uint8_t>> run(const Layer& layer, const std::vector<std::size_t>& bytes) {
  const Compiled compiled(layer);
  const Execution execution = new_execution(compiled);
  std::vector<std::vector<uint8_t>> outputs;
  for (const std::size_t size : bytes) outputs.emplace_back(size);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ANeuralNetworksExecution_setOutput(execution.get(), static_cast<int32_t>(i), nullptr, outputs[i].data(), bytes[i]);
  }
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  return outputs;
}

template <typename T>
Numbers numbers_in(const std::vector<uint8_t>& bytes, double scale = 1, int32_t zero_point = 0) {
  std::vector<T> codes(bytes.size() / sizeof(T));
  std::memcpy(codes.data(), bytes.data(), bytes.size());
  Numbers numbers;
  for (const T code : codes) numbers.push_back((static_cast<double>(code) - zero_point) * scale);
  return numbers;
}

void check_near(const Numbers& found, const Numbers& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << ": " << found[i] << ", expected " << expected[i]);
    CHECK(std::abs(found[i] - expected[i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("an LSTM's activations and clipping", "[recurrent]") {
  const int32_t activation = GENERATE(0, 1, 3, 4, 6);
  const float bound = GENERATE(0.0f, 0.5f);
  Cell cell;
  Arguments arguments;
  std::mt19937 random(11);
  for (const auto& [name, dims] : lstm_dims()) {
    std::vector<float> floats(count_of(dims));
    for (float& number : floats) number = std::uniform_real_distribution<float>(-1, 1)(random);
    arguments[name] = constant(kFloat, dims, floats);
    cell.values[name] = Numbers(floats.begin(), floats.end());
  }
  cell.activation = activation;
  cell.cell_clip = cell.projection_clip = bound;
  arguments["activation"] = int32(activation);
  arguments["cell_clip"] = arguments["projection_clip"] = float32(bound);
  arguments["scratch_buffer"] = tensor(kFloat, {1, kUnits * 4});
  arguments["output_state_out"] = arguments["output"] = tensor(kFloat, {1, kOutputs});
  arguments["cell_state_out"] = tensor(kFloat, {1, kUnits});
  const auto outputs =
      run(Layer(OperationCode::LSTM, arguments), {kUnits * 16, kOutputs * 4, kUnits * 4, kOutputs * 4});
  const Cell::State expected = cell.step();
  check_near(numbers_in<float>(outputs[1]), expected.output, 1e-5);
  check_near(numbers_in<float>(outputs[2]), expected.cell, 1e-5);
  CHECK(outputs[3] == outputs[1]);
}

TEST_CASE("QUANTIZED_LSTM without layer normalization", "[recurrent]") {
  const float bound = GENERATE(0.0f, 0.25f, -1e30f);
  constexpr float kWeightScale = 1.0f / 128, kInputScale = 1.0f / 64, kOutputScale = 1.0f / 100;
  constexpr float kHiddenScale = 1.0f / 120, kStateScale = 1.0f / 4096;
  Cell cell;
  Arguments arguments;
  std::mt19937 random(12);
  const auto add = [&](const std::string& name, OperandCode type, auto greatest, float scale, int32_t zero_point,
                       double product = 0) {
    std::vector<decltype(greatest)> codes(count_of(lstm_dims().at(name)));
    std::uniform_int_distribution<int32_t> distribution(-greatest, greatest);
    for (auto& code : codes) code = static_cast<decltype(greatest)>(distribution(random));
    arguments[name] = constant(type, lstm_dims().at(name), codes, scale, zero_point);
    cell.values[name] =
        numbers_in<decltype(greatest)>(arguments[name].bytes, product > 0 ? product : double{scale}, zero_point);
  };
  for (const std::string& gate : kGates) {
    add("input_to_" + gate + "_weights", OperandCode::TENSOR_QUANT8_SYMM, int8_t{127}, kWeightScale, 0);
    add("recurrent_to_" + gate + "_weights", OperandCode::TENSOR_QUANT8_SYMM, int8_t{127}, kWeightScale, 0);
    add(gate + "_gate_bias", OperandCode::TENSOR_INT32, int32_t{8192}, kWeightScale * kInputScale, 0);
    if (gate == "cell") continue;
    add("cell_to_" + gate + "_weights", OperandCode::TENSOR_QUANT16_SYMM, int16_t{32767}, 1.0f / 32768, 0);
  }
  add("projection_weights", OperandCode::TENSOR_QUANT8_SYMM, int8_t{127}, kWeightScale, 0);
  add("projection_bias", OperandCode::TENSOR_INT32, int32_t{8192}, 0, 0, double{kWeightScale} * kHiddenScale);
  add("input", OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, int8_t{60}, kInputScale, 3);
  add("output_state_in", OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, int8_t{90}, kOutputScale, -7);
  add("cell_state_in", OperandCode::TENSOR_QUANT16_SYMM, int16_t{4000}, kStateScale, 0);
  cell.cell_clip = cell.projection_clip = bound;
  arguments["cell_clip"] = arguments["projection_clip"] = float32(bound);
  for (const std::string& gate : kGates) arguments[gate + "_intermediate_scale"] = float32(1.0f / 4096);
  arguments["hidden_state_zero_point"] = int32(5);
  arguments["hidden_state_scale"] = float32(kHiddenScale);
  arguments["output_state_out"] = arguments["output"] =
      tensor(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, {1, kOutputs}, kOutputScale, -7);
  arguments["cell_state_out"] = tensor(OperandCode::TENSOR_QUANT16_SYMM, {1, kUnits}, kStateScale);
  const auto outputs = run(Layer(OperationCode::QUANTIZED_LSTM, arguments), {kOutputs, kUnits * 2, kOutputs});
  const Cell::State expected = cell.step();
  check_near(numbers_in<int16_t>(outputs[1], kStateScale), expected.cell, 4 * kStateScale);
  // Each of the hidden state's elements is rounded before the projection.
  check_near(numbers_in<int8_t>(outputs[0], kOutputScale, -7), expected.output, 1.5 * kOutputScale);
  CHECK(outputs[2] == outputs[0]);
}

TEST_CASE("RNN's activations", "[recurrent]") {
  const auto [activation, expected] = GENERATE(table<int32_t, std::vector<float>>(
      {{0, {-3, 0.5f, 9}}, {1, {0, 0.5f, 9}}, {2, {-1, 0.5f, 1}}, {3, {0, 0.5f, 6}}}));
  const Layer layer(OperationCode::RNN, {{"input", constant(kFloat, {1, 1}, std::vector<float>{2})},
                                         {"weights", constant(kFloat, {3, 1}, std::vector<float>{-1, 0.25f, 3})},
                                         {"recurrent_weights", weights({3, 3})},
                                         {"bias", constant(kFloat, {3}, std::vector<float>{-1, 0, 3})},
                                         {"hidden_state_in", weights({1, 3})},
                                         {"activation", int32(activation)},
                                         {"hidden_state_out", tensor(kFloat, {1, 3})},
                                         {"output", tensor(kFloat, {1, 3})}});
  const auto outputs = run(layer, {12, 12});
  CHECK(outputs[0] == bytes_of(expected));
  CHECK(outputs[1] == bytes_of(expected));
}
