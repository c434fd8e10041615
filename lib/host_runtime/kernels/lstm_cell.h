// The cell of the LSTM operations on floating-point numbers, and the checks that they share with QUANTIZED_LSTM.
//
// A direction of a bidirectional layer has its arguments under the name of a lone one with a prefix.
#pragma once

#include <array>
#include <string>

#include "lib/host_runtime/kernels/recurrent.h"

namespace nnapi_convert::host {

enum Gate { kInputGate, kForgetGate, kCellGate, kOutputGate };
constexpr std::array<const char*, 4> kGateNames = {"input", "forget", "cell", "output"};

struct LstmExtents {
  int64_t batch = 0, units = 0, output = 0;
  bool coupled = false;  // the input gate is what the forget gate leaves
};
// Checks extents and that groups of omitted arguments are omitted together.
LstmExtents check_lstm_cell(const OpContext& context, const std::string& prefix, int64_t batch, int64_t features);
// The weights of a bidirectional layer's auxiliary input: all there for Linking::kCross, else omitted.
void check_auxiliary_weights(const OpContext& context, const std::string& prefix, const LstmExtents& extents,
                             Linking linking);
// The arguments activation, cell_clip and projection_clip.
void check_lstm_parameters(const OpContext& context);

struct LstmCell {
  bool coupled = false;
  // Rows of the gates in their order, without those of a coupled input gate.
  at::Tensor input_weights, auxiliary_weights, recurrent_weights;
  // By gate; undefined where omitted.
  std::array<at::Tensor, 4> peepholes, layer_norms, biases;
  at::Tensor projection, projection_bias;
  int64_t activation = 0;
  double cell_clip = 0, projection_clip = 0;
};
LstmCell read_lstm_cell(const OpContext& context, const std::string& prefix, Linking linking);

struct LstmState {
  at::Tensor output, cell;
};
LstmState read_lstm_state(const OpContext& context, const std::string& prefix);

// One step. `sums` [batch, gates x units] are the products of the input.
LstmState lstm_step(const LstmCell& cell, const at::Tensor& sums, const LstmState& before);
// A step for each point of time of `input` [time, batch, features], from the first or from the last on: the outputs in
// the order of time, and in `state` what is left at the end. `auxiliary` is undefined but for Linking::kCross.
at::Tensor lstm_sequence(const LstmCell& cell, const at::Tensor& input, const at::Tensor& auxiliary, bool backwards,
                         LstmState& state);

}  // namespace nnapi_convert::host
