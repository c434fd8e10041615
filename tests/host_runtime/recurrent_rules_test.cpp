// SPDX-License-Identifier: BSD-3-Clause
// Tests the refusals of the recurrent layers: each test makes one change to a valid operation and checks the sentence.
#include <catch2/catch.hpp>

#include "tests/host_runtime/layer_spec.h"
#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;

namespace {

// Two rows of four features go into three units.
constexpr uint32_t kBatch = 2, kFeatures = 4, kUnits = 3, kTime = 5;

void add_lstm_cell(Arguments& arguments, const std::string& prefix) {
  for (const std::string& gate : kGates) {
    arguments[prefix + "input_to_" + gate + "_weights"] = weights({kUnits, kFeatures});
    arguments[prefix + "recurrent_to_" + gate + "_weights"] = weights({kUnits, kUnits});
    arguments[prefix + gate + "_gate_bias"] = weights({kUnits});
  }
  arguments[prefix + "output_state_in"] = tensor(kFloat, {kBatch, kUnits});
  arguments[prefix + "cell_state_in"] = tensor(kFloat, {kBatch, kUnits});
  arguments["activation"] = int32(4);
  arguments["cell_clip"] = float32(0);
  arguments["projection_clip"] = float32(0);
}

Arguments lstm_arguments() {
  Arguments arguments;
  add_lstm_cell(arguments, "");
  arguments["input"] = tensor(kFloat, {kBatch, kFeatures});
  arguments["scratch_buffer"] = tensor(kFloat, {kBatch, kUnits * 4});
  for (const char* name : {"output_state_out", "cell_state_out", "output"}) {
    arguments[name] = tensor(kFloat, {kBatch, kUnits});
  }
  return arguments;
}

Arguments sequence_lstm_arguments() {
  Arguments arguments;
  add_lstm_cell(arguments, "");
  arguments["time_major"] = boolean(false);
  arguments["input"] = tensor(kFloat, {kBatch, kTime, kFeatures});
  arguments["output"] = tensor(kFloat, {kBatch, kTime, kUnits});
  return arguments;
}

Arguments bidirectional_arguments(bool merged) {
  Arguments arguments;
  arguments["time_major"] = boolean(true);
  arguments["merge_outputs"] = boolean(merged);
  arguments["input"] = tensor(kFloat, {kTime, kBatch, kFeatures});
  arguments["fw_output"] = tensor(kFloat, {kTime, kBatch, merged ? 2 * kUnits : kUnits});
  arguments["bw_output"] = tensor(kFloat, {kTime, kBatch, kUnits});
  return arguments;
}

Arguments bidirectional_lstm_arguments(bool merged) {
  Arguments arguments = bidirectional_arguments(merged);
  add_lstm_cell(arguments, "fw_");
  add_lstm_cell(arguments, "bw_");
  return arguments;
}

void add_rnn_cell(Arguments& arguments, const std::string& prefix) {
  arguments[prefix + "weights"] = weights({kUnits, kFeatures});
  arguments[prefix + "recurrent_weights"] = weights({kUnits, kUnits});
  arguments[prefix + "bias"] = weights({kUnits});
  arguments[prefix + "hidden_state_in"] = tensor(kFloat, {kBatch, kUnits});
  arguments["activation"] = int32(1);
}

Arguments bidirectional_rnn_arguments(bool merged) {
  Arguments arguments = bidirectional_arguments(merged);
  add_rnn_cell(arguments, "fw_");
  add_rnn_cell(arguments, "bw_");
  return arguments;
}

}  // namespace

TEST_CASE("an LSTM's extents and parameters", "[recurrent]") {
  const Refusals refuses_layer{Layer(OperationCode::LSTM, lstm_arguments())};
  refuses_layer(
      [](Layer& l) {
        l["input_to_forget_weights"] = weights({kUnits, 5});
      },
      "operation 0 (LSTM), argument input_to_forget_weights: dimensions [3, 5] found, [3, 4] needed");
  refuses_layer(
      [](Layer& l) {
        l["recurrent_to_cell_weights"] = weights({2, kUnits});
      },
      "argument recurrent_to_cell_weights: dimensions [2, 3] found, [3, 3] needed");
  refuses_layer([](Layer& l) { l["input_gate_bias"] = weights({4}); },
                "argument input_gate_bias: dimensions [4] found, [3] needed");
  refuses_layer(
      [](Layer& l) {
        l["cell_state_in"].dims = {1, kUnits};
      },
      "argument cell_state_in: dimensions [1, 3] found, [2, 3] needed");
  refuses_layer(
      [](Layer& l) {
        l["scratch_buffer"].dims = {kBatch, 9};
      },
      "argument scratch_buffer: dimensions [2, 9] found, [2, 12] needed");
  refuses_layer([](Layer& l) { l["activation"] = int32(2); }, "argument activation: 2 found, 0, 1, 3, 4 or 6 needed");
  refuses_layer([](Layer& l) { l["cell_clip"] = float32(-1); }, "argument cell_clip: -1 found, at least 0 needed");
  refuses_layer([](Layer& l) { l.omit("input_to_cell_weights"); },
                "argument input_to_cell_weights: an omitted value found, a value needed");
  refuses_layer([](Layer& l) { l["projection_weights"] = weights({kUnits}); },
                "argument projection_weights: rank 1 found, 2 needed");
}

TEST_CASE("an LSTM's arguments that are omitted together", "[recurrent]") {
  const Layer valid(OperationCode::LSTM, lstm_arguments());
  const Refusals refuses_layer(valid);
  refuses_layer(
      [](Layer& l) { l.omit("recurrent_to_input_weights"); },
      "argument recurrent_to_input_weights: no value found, one needed beside that of input_to_input_weights");
  refuses_layer([](Layer& l) { l.omit("input_gate_bias"); },
                "argument input_gate_bias: no value found, one needed beside that of input_to_input_weights");
  refuses_layer(
      [](Layer& l) { l.omit("input_to_input_weights"); },
      "argument recurrent_to_input_weights: a value found, none needed without one of input_to_input_weights");
  refuses_layer([](Layer& l) { l["cell_to_output_weights"] = weights({kUnits}); },
                "argument cell_to_forget_weights: no value found, one needed beside that of cell_to_output_weights");
  refuses_layer([](Layer& l) { l["cell_to_input_weights"] = weights({kUnits}); },
                "argument cell_to_input_weights: a value found, none needed without one of cell_to_output_weights");
  refuses_layer([](Layer& l) { l["projection_bias"] = weights({kUnits}); },
                "argument projection_bias: a value found, none needed without one of projection_weights");
  Layer coupled = valid;
  for (const char* name : {"input_to_input_weights", "recurrent_to_input_weights", "input_gate_bias"}) {
    coupled.omit(name);
  }
  coupled["scratch_buffer"].dims = {kBatch, kUnits * 3};
  for (const char* gate : {"forget", "output"}) {
    coupled[std::string("cell_to_") + gate + "_weights"] = weights({kUnits});
  }
  const Refusals refuses_coupled(coupled);
  refuses_coupled([](Layer& l) { l["cell_to_input_weights"] = weights({kUnits}); },
                  "argument cell_to_input_weights: a value found, none needed without one of input_to_input_weights");
  refuses_coupled([](Layer& l) { l["cell_to_forget_weights"] = weights({1}); },
                  "argument cell_to_forget_weights: dimensions [1] found, [3] needed");
}

TEST_CASE("an LSTM with fewer outputs than units", "[recurrent]") {
  Arguments arguments = lstm_arguments();
  for (const std::string& gate : kGates) {
    arguments["recurrent_to_" + gate + "_weights"] = weights({kUnits, 2});
  }
  for (const char* name : {"output_state_in", "output_state_out", "output"}) {
    arguments[name] = tensor(kFloat, {kBatch, 2});
  }
  arguments["projection_weights"] = weights({2, kUnits});
  const Refusals refuses_layer{Layer(OperationCode::LSTM, arguments)};
  refuses_layer(
      [](Layer& l) { l.omit("projection_weights"); },
      "argument recurrent_to_output_weights: 2 columns found, those of the 3 units needed without a projection");
  refuses_layer(
      [](Layer& l) {
        l["projection_weights"] = weights({kUnits, kUnits});
      },
      "argument projection_weights: dimensions [3, 3] found, [2, 3] needed");
  refuses_layer([](Layer& l) { l["projection_bias"] = weights({kUnits}); },
                "argument projection_bias: dimensions [3] found, [2] needed");
}

TEST_CASE("an LSTM's layer normalization", "[recurrent]") {
  Arguments arguments = lstm_arguments();
  for (const std::string& gate : kGates) {
    arguments[gate + "_layer_norm_weights"] = weights({kUnits});
  }
  const Layer valid(OperationCode::LSTM, arguments);
  const Refusals refuses_layer(valid);
  refuses_layer(
      [](Layer& l) { l.omit("cell_layer_norm_weights"); },
      "argument cell_layer_norm_weights: no value found, one needed beside that of output_layer_norm_weights");
  refuses_layer([](Layer& l) { l["forget_layer_norm_weights"] = weights({2}); },
                "argument forget_layer_norm_weights: dimensions [2] found, [3] needed");
  refuses_layer([](Layer& l) { l.operations[0].inputs.resize(25); },
                "argument input_layer_norm_weights: one without output_layer_norm_weights found, all four on the list");
  const FeatureLevel level(2);
  refuses(valid, "argument input_layer_norm_weights: needs feature level 3, 2 is offered");
  accepts(Layer(OperationCode::LSTM, lstm_arguments()));
}

TEST_CASE("an input that an execution omits", "[recurrent]") {
  Layer layer(OperationCode::LSTM, lstm_arguments());
  layer["input_to_input_weights"].bytes.clear();
  layer.inputs.push_back(1);
  const Compiled compiled(layer);
  const auto answer = [&](bool given) {
    const Execution execution = new_execution(compiled);
    const std::vector<float> values(kUnits * kFeatures), states(kBatch * kUnits), input(kBatch * kFeatures);
    std::vector<float> scratch(kBatch * kUnits * 4), output(kBatch * kUnits);
    const auto set_input = [&](int32_t index, const std::vector<float>* list) {
      const std::size_t bytes = list ? list->size() * sizeof(float) : 0;
      REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), index, nullptr, list ? list->data() : nullptr,
                                                bytes) == 0);
    };
    set_input(0, &input);
    set_input(1, &states);
    set_input(2, &states);
    set_input(3, given ? &values : nullptr);
    for (int32_t i = 0; i < 4; ++i) {
      std::vector<float>& list = i == 0 ? scratch : output;
      ANeuralNetworksExecution_setOutput(execution.get(), i, nullptr, list.data(), list.size() * sizeof(float));
    }
    StderrCapture capture;
    const int code = ANeuralNetworksExecution_compute(execution.get());
    return std::to_string(code) + " " + capture.text();
  };
  CHECK(answer(true) == "0 ");
  CHECK(answer(false).find("argument recurrent_to_input_weights: a value found, none needed without one of "
                           "input_to_input_weights") != std::string::npos);
}

TEST_CASE("LSTMs over sequences", "[recurrent]") {
  Arguments arguments = sequence_lstm_arguments();
  const Layer stateless(OperationCode::UNIDIRECTIONAL_SEQUENCE_LSTM, arguments);
  arguments["output_state_out"] = arguments["cell_state_out"] = tensor(kFloat, {kBatch, kUnits});
  const Layer valid(OperationCode::UNIDIRECTIONAL_SEQUENCE_LSTM, arguments);
  const Refusals refuses_layer(valid);
  refuses_layer([](Layer& l) { l["time_major"] = boolean(true); },
                "argument output_state_in: dimensions [2, 3] found, [5, 3] needed");
  refuses_layer(
      [](Layer& l) {
        l.operations[0].outputs.pop_back();
        l.outputs.pop_back();
        l.operands.pop_back();
      },
      "argument output_state_out: an output without cell_state_out found, both or none needed");
  refuses_layer(
      [](Layer& l) {
        l["output"].dims = {kTime, kBatch, kUnits};
      },
      "argument output: dimensions [5, 2, 3] found, [2, 5, 3] needed");
  const FeatureLevel level(3);
  accepts(stateless);
  refuses(valid, "argument output_state_out: needs feature level 4, 3 is offered");
}

TEST_CASE("LSTMs over sequences in both directions", "[recurrent]") {
  constexpr OperationCode kCode = OperationCode::BIDIRECTIONAL_SEQUENCE_LSTM;
  accepts(Layer(kCode, bidirectional_lstm_arguments(true), 1));
  const Refusals refuses_layer{Layer(kCode, bidirectional_lstm_arguments(false))};
  refuses_layer([](Layer& l) { l["merge_outputs"] = boolean(true); },
                "argument bw_output: an output found, none needed as merge_outputs is true");
  refuses_layer([](Layer& l) { l["bw_output_gate_bias"] = weights({4}); },
                "argument bw_output_gate_bias: dimensions [4] found, [3] needed");
  refuses_layer(
      [](Layer& l) {
        l["fw_aux_input_to_output_weights"] = weights({kUnits, 6});
      },
      "argument bw_aux_input_to_output_weights: no value found, one needed beside that of "
      "fw_aux_input_to_output_weights");
  refuses_layer(
      [](Layer& l) {
        l["fw_aux_input_to_cell_weights"] = weights({kUnits, 6});
      },
      "argument fw_aux_input_to_cell_weights: a value found, none needed without one of "
      "fw_aux_input_to_output_weights");
  Layer merged(kCode, bidirectional_lstm_arguments(true), 1);
  merged["merge_outputs"] = boolean(false);
  refuses(merged, "argument merge_outputs: false found, true needed without the output bw_output");
  Arguments arguments = bidirectional_lstm_arguments(true);
  for (const char* state : {"output", "cell"}) {
    for (const char* direction : {"fw_", "bw_"}) {
      arguments[direction + std::string(state) + "_state_out"] = tensor(kFloat, {kBatch, kUnits});
    }
  }
  const Layer with_states(kCode, arguments, 3);
  accepts(with_states);
  const FeatureLevel level(3);
  refuses(with_states, "on TENSOR_FLOAT32 it needs feature level 4, 3 is offered");
}

TEST_CASE("RNNs", "[recurrent]") {
  Arguments arguments;
  add_rnn_cell(arguments, "");
  arguments["input"] = tensor(kFloat, {kBatch, kFeatures});
  arguments["hidden_state_out"] = arguments["output"] = tensor(kFloat, {kBatch, kUnits});
  const Refusals refuses_layer{Layer(OperationCode::RNN, arguments)};
  refuses_layer(
      [](Layer& l) {
        l["recurrent_weights"] = weights({kUnits, 2});
      },
      "argument recurrent_weights: dimensions [3, 2] found, [3, 3] needed");
  refuses_layer([](Layer& l) { l["activation"] = int32(4); }, "argument activation: 4 found, 0 to 3 needed");
  refuses_layer([](Layer& l) { l.omit("bias"); }, "argument bias: an omitted value found, a value needed");
  arguments["input"] = tensor(kFloat, {kTime, kBatch, kFeatures});
  arguments["output"] = tensor(kFloat, {kTime, kBatch, kUnits});
  arguments["time_major"] = int32(1);
  const Layer sequence(OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN, arguments);
  const Refusals refuses_sequence(sequence);
  refuses_sequence([](Layer& l) { l["time_major"] = int32(2); }, "argument time_major: 2 found, 0 or 1 needed");
  refuses_sequence([](Layer& l) { l["time_major"] = int32(0); },
                   "argument hidden_state_in: dimensions [2, 3] found, [5, 3] needed");
  const FeatureLevel level(3);
  refuses(sequence, "argument hidden_state_out: needs feature level 4, 3 is offered");
}

TEST_CASE("RNNs in both directions", "[recurrent]") {
  constexpr OperationCode kCode = OperationCode::BIDIRECTIONAL_SEQUENCE_RNN;
  accepts(Layer(kCode, bidirectional_rnn_arguments(true), 1));
  const Refusals refuses_layer{Layer(kCode, bidirectional_rnn_arguments(false))};
  refuses_layer(
      [](Layer& l) {
        l["fw_aux_weights"] = l["bw_aux_weights"] = weights({kUnits, 6});
      },
      "argument aux_input: no value found, one needed beside that of fw_aux_weights");
  const auto link = [](Layer& l) { l["aux_input"] = weights({kTime, kBatch, 6}); };
  refuses_layer(link, "argument bw_weights: dimensions [3, 4] found, [3, 6] needed");
  refuses_layer(
      [](Layer& l) {
        l["aux_input"] = weights({kTime, 1, 6});
      },
      "argument aux_input: dimensions [5, 1, 6] found, [5, 2, 6] needed");
  refuses_layer([](Layer& l) { l["aux_input"] = weights({kTime, 6}); }, "argument aux_input: rank 2 found, 3 needed");
  refuses_layer(
      [&](Layer& l) {
        link(l);
        l["fw_aux_weights"] = l["bw_aux_weights"] = weights({kUnits, 5});
      },
      "argument fw_aux_weights: dimensions [3, 5] found, [3, 6] needed");
}

TEST_CASE("SVDF", "[recurrent]") {
  const Refusals refuses_layer{Layer(OperationCode::SVDF, {{"input", tensor(kFloat, {kBatch, kFeatures})},
                                                           {"weights_feature", weights({6, kFeatures})},
                                                           {"weights_time", weights({6, 10})},
                                                           {"bias", weights({3})},
                                                           {"state_in", tensor(kFloat, {kBatch, 60})},
                                                           {"rank", int32(2)},
                                                           {"activation", int32(0)},
                                                           {"state_out", tensor(kFloat, {kBatch, 60})},
                                                           {"output", tensor(kFloat, {kBatch, 3})}})};
  refuses_layer([](Layer& l) { l["rank"] = int32(4); }, "argument rank: 4 found, a divisor of the 6 filters needed");
  refuses_layer([](Layer& l) { l["rank"] = int32(0); }, "argument rank: 0 found");
  refuses_layer([](Layer& l) { l["bias"] = weights({6}); }, "argument bias: dimensions [6] found, [3] needed");
  refuses_layer(
      [](Layer& l) {
        l["state_in"].dims = {kBatch, 54};
      },
      "argument state_in: dimensions [2, 54] found, [2, 60] needed");
}
