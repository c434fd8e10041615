// SPDX-License-Identifier: BSD-3-Clause
// Tests the refusals of the quantised LSTMs: each test makes one change to a valid operation and checks the sentence.
#include <catch2/catch.hpp>

#include "tests/host_runtime/layer_spec.h"

using namespace model_spec;

namespace {

constexpr uint32_t kBatch = 2, kFeatures = 4, kUnits = 3;

}  // namespace

TEST_CASE("QUANTIZED_16BIT_LSTM", "[recurrent]") {
  constexpr OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM, kState = OperandCode::TENSOR_QUANT16_SYMM;
  constexpr float kScale = 1.0f / 128, kStateScale = 1.0f / 2048;
  Arguments arguments;
  for (const std::string& gate : kGates) {
    arguments["input_to_" + gate + "_weights"] = zeros<uint8_t>(kCodes, {kUnits, kFeatures}, 0.5f, 100);
    arguments["recurrent_to_" + gate + "_weights"] = zeros<uint8_t>(kCodes, {kUnits, kUnits}, 0.5f, 100);
    arguments[gate + "_gate_bias"] = zeros<int32_t>(OperandCode::TENSOR_INT32, {kUnits}, 0.5f / 128);
  }
  arguments["input"] = tensor(kCodes, {kBatch, kFeatures}, kScale, 128);
  arguments["output_state_in"] = arguments["output"] = tensor(kCodes, {kBatch, kUnits}, kScale, 128);
  arguments["cell_state_in"] = arguments["cell_state_out"] = tensor(kState, {kBatch, kUnits}, kStateScale);
  const Refusals refuses_layer{Layer(OperationCode::QUANTIZED_16BIT_LSTM, arguments)};
  refuses_layer([](Layer& l) { l["input"].zero_point = 127; },
                "argument input: scale 0.0078125, zero point 127 found, 0.0078125, 128 needed");
  refuses_layer([](Layer& l) { l["cell_state_out"].scale = 0.5f; },
                "argument cell_state_out: scale 0.5, zero point 0 found, 0.00048828125, 0 needed");
  refuses_layer([](Layer& l) { l["recurrent_to_cell_weights"].zero_point = 101; },
                "argument recurrent_to_cell_weights: scale 0.5, zero point 101 found, 0.5, 100 needed");
  refuses_layer([](Layer& l) { l["forget_gate_bias"].scale = 0.5f; },
                "argument forget_gate_bias: scale 0.5, zero point 0 found, 0.00390625, 0 needed");
  refuses_layer([](Layer& l) { l["output_gate_bias"] = zeros<int32_t>(OperandCode::TENSOR_INT32, {2}, 0.5f / 128); },
                "argument output_gate_bias: dimensions [2] found, [3] needed");
}

TEST_CASE("QUANTIZED_LSTM", "[recurrent]") {
  constexpr OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, kState = OperandCode::TENSOR_QUANT16_SYMM;
  constexpr float kStateScale = 1.0f / 2048;
  Arguments arguments;
  for (const std::string& gate : kGates) {
    arguments["input_to_" + gate + "_weights"] =
        zeros<int8_t>(OperandCode::TENSOR_QUANT8_SYMM, {kUnits, kFeatures}, 0.5f);
    arguments["recurrent_to_" + gate + "_weights"] =
        zeros<int8_t>(OperandCode::TENSOR_QUANT8_SYMM, {kUnits, kUnits}, 0.5f);
    arguments[gate + "_gate_bias"] = zeros<int32_t>(OperandCode::TENSOR_INT32, {kUnits}, 0.25f);
    arguments[gate + "_intermediate_scale"] = float32(1.0f / 4096);
  }
  arguments["input"] = tensor(kCodes, {kBatch, kFeatures}, 0.5f, 3);
  for (const char* name : {"output_state_in", "output_state_out", "output"}) {
    arguments[name] = tensor(kCodes, {kBatch, kUnits}, 0.25f, -7);
  }
  arguments["cell_state_in"] = arguments["cell_state_out"] = tensor(kState, {kBatch, kUnits}, kStateScale);
  arguments["hidden_state_zero_point"] = int32(0);
  arguments["hidden_state_scale"] = float32(0.007f);
  const Refusals refuses_layer{Layer(OperationCode::QUANTIZED_LSTM, arguments)};
  refuses_layer([](Layer& l) { l["cell_state_in"].scale = l["cell_state_out"].scale = 0.0005f; },
                "argument cell_state_in: scale 0.0005 found, a power of 2 from 2^-15 to 2^-9 needed");
  refuses_layer([](Layer& l) { l["cell_state_in"].scale = l["cell_state_out"].scale = 1.0f / 256; },
                "argument cell_state_in: scale 0.00390625 found, a power of 2 from 2^-15 to 2^-9 needed");
  refuses_layer([](Layer& l) { l["output"].zero_point = 0; },
                "argument output: scale 0.25, zero point 0 found, 0.25, -7 needed");
  refuses_layer([](Layer& l) { l["cell_gate_bias"].scale = 0.5f; },
                "argument cell_gate_bias: scale 0.5 found, input scale x weights scale = 0.25 needed");
  refuses_layer([](Layer& l) { l["output_gate_bias"].zero_point = 1; },
                "argument output_gate_bias: zero point 1 found, 0 needed");
  refuses_layer([](Layer& l) { l["forget_intermediate_scale"] = float32(0); },
                "argument forget_intermediate_scale: 0 found, more than 0 needed");
  refuses_layer([](Layer& l) { l["cell_intermediate_scale"] = float32(0.0078125f); },
                "argument cell_intermediate_scale: 0.0078125 found, 2^-12 = 0.000244140625 needed without layer");
  refuses_layer([](Layer& l) { l["hidden_state_zero_point"] = int32(200); },
                "argument hidden_state_zero_point: 200 found, -128 to 127 needed");
  refuses_layer([](Layer& l) { l.omit("recurrent_to_input_weights"); },
                "argument recurrent_to_input_weights: no value found");
  refuses_layer([](Layer& l) { l.omit("hidden_state_scale"); },
                "argument hidden_state_scale: an omitted value found, a value needed");
}
