// SPDX-License-Identifier: BSD-3-Clause
// Tests refusals while a model is built: each test makes one change to a valid model, and checks code and sentence.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;

namespace {

// Operands of the quantised convolution below.
enum Conv : uint32_t { kInput, kFilter, kBias, kLeft, kRight, kTop, kBottom, kStrideW, kStrideH, kActivation, kOutput };

ModelSpec quantised_conv() {
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {1, 4, 4, 2}, 0.5f, 3));
  spec.add(constant(OperandCode::TENSOR_QUANT8_ASYMM, {3, 2, 2, 2}, std::vector<uint8_t>(24, 7), 0.5f, 1));
  spec.add(constant(OperandCode::TENSOR_INT32, {3}, std::vector<int32_t>{4, 5, 6}, 0.25f));
  for (const int32_t value : {0, 0, 0, 0, 1, 1, 0}) spec.add(int32(value));
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {1, 3, 3, 3}, 1.0f, 0));
  spec.operations = {{OperationCode::CONV_2D, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10}}};
  spec.inputs = {kInput};
  spec.outputs = {kOutput};
  return spec;
}

ModelSpec binary(OperationCode code, const OperandSpec& a, const OperandSpec& b, const OperandSpec& output) {
  ModelSpec spec;
  spec.add(a);
  spec.add(b);
  spec.add(int32(0));
  spec.add(output);
  spec.operations = {{code, {0, 1, 2}, {3}}};
  spec.inputs = {0, 1};
  spec.outputs = {3};
  return spec;
}

ModelSpec unary(OperationCode code, const OperandSpec& input, const OperandSpec& output,
                const std::vector<OperandSpec>& arguments = {}) {
  ModelSpec spec;
  spec.add(input);
  std::vector<uint32_t> inputs = {0};
  for (const OperandSpec& argument : arguments) inputs.push_back(spec.add(argument));
  const uint32_t result = spec.add(output);
  spec.operations = {{code, inputs, {result}}};
  spec.inputs = {0};
  spec.outputs = {result};
  return spec;
}

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;
const OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM;

ModelSpec pool(int32_t padding, int32_t filter, uint32_t extent) {
  ModelSpec spec =
      unary(OperationCode::MAX_POOL_2D, tensor(kFloat, {1, 4, 4, 1}), tensor(kFloat, {1, extent, extent, 1}),
            {int32(padding), int32(padding), int32(padding), int32(padding), int32(1), int32(1), int32(filter),
             int32(filter), int32(0)});
  return spec;
}

void refuses_conv(const std::function<void(ModelSpec&)>& change, const std::string& fragment) {
  model_spec::refuses_changed(quantised_conv(), change, fragment);
}

}  // namespace

TEST_CASE("a convolution's arguments", "[model]") {
  accepts(quantised_conv());
  refuses_conv([](ModelSpec& s) { s.operands[kBias].scale = 0.5f; },
               "operation 0 (CONV_2D), argument bias: scale 0.5 found, input scale x filter scale = 0.25 needed");
  refuses_conv([](ModelSpec& s) { s.operands[kBias].zero_point = 1; }, "argument bias: zero point 1 found, 0 needed");
  refuses_conv([](ModelSpec& s) { s.operands[kStrideH] = int32(0); },
               "argument stride_height: 0 found, at least 1 needed");
  refuses_conv([](ModelSpec& s) { s.operands[kLeft] = int32(-1); },
               "argument padding_left: -1 found, at least 0 needed");
  refuses_conv([](ModelSpec& s) { s.operands[kActivation] = int32(4); }, "argument activation: 4 found, 0 to 3 needed");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kOutput].dims = {1, 3, 2, 3};
      },
      "argument output: dimensions [1, 3, 2, 3] found, [1, 3, 3, 3] needed");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kInput].dims = {1, 4, 4, 3};
      },
      "argument filter: depth 2 found, 3 input channels in 1 groups need 3");
  refuses_conv([](ModelSpec& s) { s.operands[kInput].dims = {4, 4, 2}; }, "argument input: rank 3 found, 4 needed");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kInput].dims = {1, 1, 4, 2};
      },
      "height 1 and padding 0 + 0 found, the filter covers 2");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kFilter].type = kFloat;
        s.operands[kFilter].scale = 0;
        s.operands[kFilter].zero_point = 0;
        s.operands[kFilter].bytes.resize(24 * 4);
      },
      "argument filter: TENSOR_FLOAT32 found, TENSOR_QUANT8_ASYMM or TENSOR_QUANT8_SYMM_PER_CHANNEL needed");
  refuses_conv([](ModelSpec& s) { s.operations[0].inputs.resize(6); }, "6 inputs found, ");
  refuses_conv([](ModelSpec& s) { s.operations[0].outputs.push_back(kInput); }, "2 outputs found, 1 needed");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kBias].bytes = bytes_of(std::vector<int32_t>{4, 5});
        s.operands[kBias].dims = {2};
      },
      "argument bias: 2 entries found, 3 needed");
  refuses_conv(
      [](ModelSpec& s) {
        s.operands[kBias].bytes.clear();
        s.operands[kBias].omitted = true;
      },
      "argument bias: an omitted value found, a value needed");
}

TEST_CASE("per-channel scales", "[model]") {
  const auto per_channel = [](ModelSpec& s) {
    OperandSpec& filter = s.operands[kFilter];
    filter.type = OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL;
    filter.scale = 0;
    filter.zero_point = 0;
    filter.channel_scales = {0.5f, 0.25f, 1.0f};
    s.operands[kBias].scale = 0;
  };
  ModelSpec valid = quantised_conv();
  per_channel(valid);
  accepts(valid);
  const auto refuses_changed = [&](const std::function<void(ModelSpec&)>& change, const std::string& fragment) {
    model_spec::refuses_changed(valid, change, fragment);
  };
  refuses_changed([](ModelSpec& s) { s.operands[kBias].scale = 0.25f; },
                  "argument bias: scale 0.25 found, 0 needed with per-channel scales");
  refuses_changed([](ModelSpec& s) { s.operands[kFilter].channel_scales.pop_back(); },
                  "operand 1: 2 scales found, 3 needed");
  refuses_changed([](ModelSpec& s) { s.operands[kFilter].channel_scales[1] = 0; }, "operand 1: scale 0 found");
  refuses_changed([](ModelSpec& s) { s.operands[kFilter].channel_scales.clear(); },
                  "operand 1: TENSOR_QUANT8_SYMM_PER_CHANNEL has no per-channel scales");
  refuses_changed([](ModelSpec& s) { s.operands[kFilter].channel_dim = 4; },
                  "operand 1: channel dimension 4 found, below 4 needed");
  refuses_changed(
      [](ModelSpec& s) {
        s.operands[kFilter].channel_dim = 3;
        s.operands[kFilter].channel_scales.resize(2);
      },
      "argument filter: per-channel scales along dimension 3 found, 0 needed");
}

TEST_CASE("feature levels", "[model]") {
  SECTION("output scale of a convolution below level 3") {
    ModelSpec spec = quantised_conv();
    spec.operands[kOutput].scale = 0.25f;
    accepts(spec);
    const FeatureLevel level(2);
    refuses(
        spec,
        "argument output: scale 0.25 found, more than input scale x filter scale = 0.25 needed below feature level 3");
  }
  SECTION("an operation") {
    const ModelSpec spec = unary(OperationCode::HARD_SWISH, tensor(kFloat, {2}), tensor(kFloat, {2}));
    accepts(spec);
    const FeatureLevel level(3);
    refuses(spec, "operation 0 (HARD_SWISH): needs feature level 4, 3 is offered");
  }
  SECTION("a type") {
    const OperandSpec half = tensor(OperandCode::TENSOR_FLOAT16, {2});
    const ModelSpec spec = unary(OperationCode::RELU, half, half);
    accepts(spec);
    const FeatureLevel level(2);
    refuses(spec, "operand 0: type TENSOR_FLOAT16 needs feature level 3, 2 is offered");
  }
  SECTION("a combination of types") {
    const OperandSpec codes = tensor(kCodes, {2}, 0.5f);
    const ModelSpec spec = binary(OperationCode::SUB, codes, codes, codes);
    accepts(spec);
    const FeatureLevel level(2);
    refuses(spec, "operation 0 (SUB): on TENSOR_QUANT8_ASYMM it needs feature level 3, 2 is offered");
  }
  SECTION("an optional argument") {
    const ModelSpec spec =
        unary(OperationCode::SOFTMAX, tensor(kFloat, {2, 3}), tensor(kFloat, {2, 3}), {float32(1), int32(0)});
    accepts(spec);
    const FeatureLevel level(2);
    refuses(spec, "argument axis: needs feature level 3, 2 is offered");
  }
  SECTION("what the library says of itself") {
    CHECK(ANeuralNetworks_getRuntimeFeatureLevel() == 1000008);
    const FeatureLevel level(4);
    CHECK(ANeuralNetworks_getRuntimeFeatureLevel() == 30);
  }
  SECTION("nonsense in the environment") {
    setenv("NNAPI_HOST_FEATURE_LEVEL", "9", 1);
    StderrCapture capture;
    CHECK(ANeuralNetworks_getRuntimeFeatureLevel() == 1000008);
    CHECK(ANeuralNetworks_getRuntimeFeatureLevel() == 1000008);
    const std::string sentence = capture.text();
    CHECK(sentence == "neuralnetworks: NNAPI_HOST_FEATURE_LEVEL: '9' found, 1 to 8 needed; 8 is taken\n");
    unsetenv("NNAPI_HOST_FEATURE_LEVEL");
  }
}

TEST_CASE("scales of other operations", "[model]") {
  const OperandSpec codes = tensor(kCodes, {2}, 0.5f, 1);
  accepts(binary(OperationCode::MUL, codes, codes, tensor(kCodes, {2}, 0.26f)));
  refuses(binary(OperationCode::MUL, codes, codes, tensor(kCodes, {2}, 0.25f)),
          "argument output: scale 0.25 found, more than input1 scale x input2 scale = 0.25 needed");
  accepts(unary(OperationCode::LOGISTIC, codes, tensor(kCodes, {2}, 1.0f / 256)));
  refuses(unary(OperationCode::LOGISTIC, codes, tensor(kCodes, {2}, 1.0f / 128)),
          "scale 0.0078125, zero point 0 found, 0.00390625, 0 needed");
  refuses(unary(OperationCode::TANH, codes, tensor(kCodes, {2}, 1.0f / 128)),
          "zero point 0 found, 0.0078125, 128 needed");
  refuses(unary(OperationCode::SOFTMAX, tensor(kCodes, {1, 2}, 1), tensor(kCodes, {1, 2}, 1), {float32(1)}),
          "scale 1, zero point 0 found, 0.00390625, 0 needed");
  refuses(unary(OperationCode::RELU, codes, tensor(kCodes, {2}, 0.25f, 1)),
          "argument output: scale 0.25, zero point 1 found, those of input needed: 0.5, 1");
  refuses(unary(OperationCode::RESHAPE, codes, tensor(kCodes, {1, 2}, 0.5f, 0), {int32_list({1, 2})}),
          "argument output: scale 0.5, zero point 0 found, those of input needed: 0.5, 1");
}

TEST_CASE("extents of other operations", "[model]") {
  const OperandSpec floats = tensor(kFloat, {2, 3});
  accepts(binary(OperationCode::ADD, floats, tensor(kFloat, {3}), floats));
  refuses(binary(OperationCode::ADD, floats, tensor(kFloat, {2}), floats),
          "argument input2: dimensions [2] found, [2, 3] of input1 cannot be broadcast with them");
  refuses(unary(OperationCode::RESHAPE, floats, tensor(kFloat, {7}), {int32_list({7})}),
          "[7] found, 6 elements needed");
  refuses(unary(OperationCode::RESHAPE, floats, tensor(kFloat, {7}), {int32_list({1 << 30, 1 << 30, 16, 6})}),
          "[1073741824, 1073741824, 16, 6] found, 6 elements needed");
  refuses(unary(OperationCode::RESHAPE, floats, tensor(kFloat, {7}), {int32_list({-2, 3})}),
          "[-2, 3] found, one -1 at most needed");
  accepts(unary(OperationCode::RESHAPE, floats, tensor(kFloat, {3, 2}), {int32_list({3, -1})}));
  refuses(unary(OperationCode::RESHAPE, floats, tensor(kFloat, {7}), {int32_list({-1, -1})}), "one -1 at most needed");
  refuses(unary(OperationCode::TRANSPOSE, floats, floats, {int32_list({0, 0})}),
          "[0, 0] found, a permutation of 2 axes needed");
  refuses(unary(OperationCode::SOFTMAX, floats, floats, {float32(1), int32(2)}),
          "argument axis: 2 found, -2 to 1 needed");
  refuses(unary(OperationCode::SOFTMAX, floats, floats, {float32(-1)}), "argument beta: -1 found, more than 0 needed");
  refuses(unary(OperationCode::SOFTMAX, floats, floats, {float32(std::nanf(""))}), "argument beta: NaN found");
  accepts(pool(1, 2, 5));
  refuses(pool(2, 2, 7), "argument padding_left: 2 found, less than the filter's 2 needed");
  refuses(pool(-1, 2, 1), "argument padding_left: -1 found, at least 0 needed");
}

TEST_CASE("operands", "[model]") {
  const auto refuses_input = [](const OperandSpec& operand, const std::string& fragment) {
    refuses(unary(OperationCode::RELU, operand, tensor(kFloat, {2})), fragment);
  };
  refuses_input(tensor(static_cast<OperandCode>(99), {2}), "operand 0: unknown type 99 found");
  refuses_input(tensor(kCodes, {2}, 0), "operand 0: scale 0 found, TENSOR_QUANT8_ASYMM needs one above 0");
  refuses_input(tensor(kCodes, {2}, 1, 256), "operand 0: zero point 256 found, TENSOR_QUANT8_ASYMM needs 0 to 255");
  refuses_input(tensor(kCodes, {2}, std::numeric_limits<float>::quiet_NaN()), "operand 0: scale nan found");
  refuses_input(tensor(kFloat, {2}, 1), "operand 0: scale 1 found, TENSOR_FLOAT32 needs 0");
  refuses_input(tensor(OperandCode::INT32, {2}), "operand 0: rank 1 found, the scalar INT32 has none");
  refuses_input(tensor(kFloat, {65536, 65536}), "operand 0: more than 4294967295 ");
  refuses_input(tensor(kFloat, {0x80000000u, 0x80000000u, 0x80000000u}), "operand 0: more than 4294967295 ");
}

TEST_CASE("who writes and reads what", "[model]") {
  const ModelSpec valid = binary(OperationCode::ADD, tensor(kFloat, {2}), tensor(kFloat, {2}), tensor(kFloat, {2}));
  accepts(valid);
  const auto refuses_changed = [&](const std::function<void(ModelSpec&)>& change, const std::string& fragment) {
    model_spec::refuses_changed(valid, change, fragment);
  };
  refuses_changed(
      [](ModelSpec& s) {
        s.operands[1].bytes = bytes_of(std::vector<float>{1, 2});
      },
      "operand 1: listed as a model input, but it is a constant already");
  refuses_changed([](ModelSpec& s) { s.outputs = {0}; },
                  "operand 0: listed as a model output, but it is a model input already");
  refuses_changed([](ModelSpec& s) { s.outputs = {2}; },
                  "operand 2: listed as a model output, but it is a constant already");
  refuses_changed(
      [](ModelSpec& s) {
        s.outputs = {3, 3};
      },
      "operand 3: listed as a model output, but it is a model output already");
  refuses_changed([](ModelSpec& s) { s.outputs = {4}; }, "model outputs: operand index 4 found, below 4 needed");
  refuses_changed([](ModelSpec& s) { s.outputs.clear(); }, "no outputs found, at least one needed");
  refuses_changed([](ModelSpec& s) { s.operations[0].inputs[0] = 77; },
                  "operation 0 (ADD): operand index 77 found, below 4 needed");
  refuses_changed([](ModelSpec& s) { s.operations.clear(); }, "no operations found, at least one needed");
  refuses_changed([](ModelSpec& s) { s.operations.push_back(s.operations[0]); },
                  "operation 1 (ADD): writes operand 3, which is written before");
  refuses_changed([](ModelSpec& s) { s.operations[0].outputs = {0}; },
                  "operation 0 (ADD): writes operand 0, which is a model input");
  refuses_changed([](ModelSpec& s) { s.operations[0].inputs[0] = 3; },
                  "operation 0 (ADD): reads an operand that depends on its own output");
  refuses_changed([](ModelSpec& s) { s.inputs = {0}; }, "operand 1: it is a temporary that no operation writes");
  refuses_changed([](ModelSpec& s) { s.operands[2].bytes.resize(3); }, "operand 2: 3 bytes found, 4 needed");
  refuses_changed([](ModelSpec& s) { s.operations[0].code = static_cast<OperationCode>(106); },
                  "operation 0: unknown code 106 found");
}

TEST_CASE("operations may come in any order", "[model]") {
  ModelSpec spec = binary(OperationCode::ADD, tensor(kFloat, {2}), tensor(kFloat, {2}), tensor(kFloat, {2}));
  const uint32_t last = spec.add(tensor(kFloat, {2}));
  spec.operations.insert(spec.operations.begin(), {OperationCode::RELU, {3}, {last}});
  spec.outputs = {last};
  const Compiled compiled(spec);
  const auto output = compute(compiled, {bytes_of(std::vector<float>{1, -5}), bytes_of(std::vector<float>{2, 3})}, 8);
  CHECK(output == bytes_of(std::vector<float>{3, 0}));
}

TEST_CASE("a finished model does not change", "[model]") {
  const ModelSpec spec = binary(OperationCode::ADD, tensor(kFloat, {2}), tensor(kFloat, {2}), tensor(kFloat, {2}));
  const Model model = new_model();
  REQUIRE(build(spec, model.get()) == 0);
  const ANeuralNetworksOperandType type = type_of(spec.operands[0]);
  const uint32_t index = 0;
  StderrCapture capture;
  CHECK(ANeuralNetworksModel_finish(model.get()) == static_cast<int>(nnapi_convert::ResultCode::BAD_STATE));
  CHECK(ANeuralNetworksModel_addOperand(model.get(), &type) == kBadData);
  CHECK(ANeuralNetworksModel_setOperandValue(model.get(), 0, nullptr, 0) == kBadData);
  CHECK(ANeuralNetworksModel_addOperation(model.get(), 0, 1, &index, 1, &index) == kBadData);
  CHECK(ANeuralNetworksModel_identifyInputsAndOutputs(model.get(), 1, &index, 1, &index) == kBadData);
  const std::string sentences = capture.text();
  CHECK(std::count(sentences.begin(), sentences.end(), '\n') == 5);
  CHECK(sentences.find("addOperand: the model is finished already") != std::string::npos);
}

TEST_CASE("null pointers and states", "[model]") {
  constexpr int kNull = static_cast<int>(nnapi_convert::ResultCode::UNEXPECTED_NULL);
  constexpr int kBadState = static_cast<int>(nnapi_convert::ResultCode::BAD_STATE);
  const Model model = new_model();
  StderrCapture capture;
  CHECK(ANeuralNetworksModel_create(nullptr) == kNull);
  CHECK(ANeuralNetworksModel_addOperand(model.get(), nullptr) == kNull);
  CHECK(ANeuralNetworksModel_addOperand(nullptr, nullptr) == kNull);
  CHECK(ANeuralNetworksModel_addOperation(model.get(), 0, 1, nullptr, 0, nullptr) == kNull);
  CHECK(ANeuralNetworksExecution_compute(nullptr) == kNull);
  ANeuralNetworksCompilation* compilation = nullptr;
  CHECK(ANeuralNetworksCompilation_create(model.get(), &compilation) == kBadState);
  CHECK(compilation == nullptr);
  CHECK(ANeuralNetworksModel_finish(model.get()) == kBadData);
  CHECK(ANeuralNetworksModel_setOperandValue(model.get(), -1, nullptr, 0) == kBadData);
}

TEST_CASE("the rank that an operation's input gets from the operation before", "[model]") {
  ModelSpec spec;
  spec.inputs = {spec.add(tensor(kFloat, {4, 4}))};
  const uint32_t between = spec.add(tensor(kFloat, {}));
  spec.outputs = {spec.add(tensor(kFloat, {}))};
  std::vector<uint32_t> arguments = {between};
  for (const int32_t value : {0, 0, 0, 0, 1, 1, 1, 1, 0}) arguments.push_back(spec.add(int32(value)));
  spec.operations = {{OperationCode::FLOOR, spec.inputs, {between}},
                     {OperationCode::MAX_POOL_2D, arguments, spec.outputs}};
  refuses(spec, "operation 1 (MAX_POOL_2D), argument input: rank 2 found, 4 needed");
  spec.operands[0].dims = {1, 4, 4, 1};
  accepts(spec);
}
