// SPDX-License-Identifier: BSD-3-Clause
// Computes the cell of the floating-point LSTM operations, and checks LSTM cells, also for QUANTIZED_LSTM.
//
// In a bidirectional layer, the argument names of each direction are those of a unidirectional layer with a prefix.
#pragma once

#include <array>
#include <string>

#include "lib/host_runtime/recurrent.h"

namespace nnapi_convert::host {

enum Gate { kInputGate, kForgetGate, kCellGate, kOutputGate };
constexpr std::array<const char*, 4> kGateNames = {"input", "forget", "cell", "output"};

struct LstmExtents {
  int64_t batch = 0, units = 0, output = 0;
  bool coupled = false;  // the input gate is 1 - the forget gate
};
// Checks the extents, and that arguments of one group are omitted together.
LstmExtents check_lstm_cell(const OpContext& context, const std::string& prefix, int64_t batch, int64_t features);
// Checks that the weights of a bidirectional layer's auxiliary input are given for Linking::kCross, else omitted.
void check_auxiliary_weights(const OpContext& context, const std::string& prefix, const LstmExtents& extents,
                             Linking linking);
// Checks the arguments activation, cell_clip and projection_clip.
void check_lstm_parameters(const OpContext& context);

struct LstmCell {
  bool coupled = false;
  // The rows of all gates in the order of the gates; a coupled input gate has no rows.
  at::Tensor input_weights, auxiliary_weights, recurrent_weights;
  // Indexed by gate; an omitted argument is undefined.
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

// Computes one step. `sums` [batch, gates x units] are the products of the input and the input weights.
LstmState lstm_step(const LstmCell& cell, const at::Tensor& sums, const LstmState& before);
// Computes a step for each point of time of `input` [time, batch, features], forwards or backwards. Returns the outputs
// in the order of time; `state` becomes the final state. `auxiliary` is defined only for Linking::kCross.
at::Tensor lstm_sequence(const LstmCell& cell, const at::Tensor& input, const at::Tensor& auxiliary, bool backwards,
                         LstmState& state);

}  // namespace nnapi_convert::host
