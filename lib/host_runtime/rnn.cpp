// SPDX-License-Identifier: BSD-3-Clause
// RNN, and over sequences UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN.
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"
#include "lib/host_runtime/recurrent.h"

namespace nnapi_convert::host {
namespace {

// Checks a cell and returns its number of units. In a bidirectional layer, `prefix` begins each argument's name.
int64_t check_cell(const OpContext& context, const std::string& prefix, int64_t batch, int64_t features) {
  const int64_t units = context.dims((prefix + "weights").c_str())[0];
  require_dims(context, prefix + "weights", {units, features});
  require_dims(context, prefix + "recurrent_weights", {units, units});
  require_dims(context, prefix + "bias", {units});
  require_dims(context, prefix + "hidden_state_in", {batch, units});
  return units;
}

int64_t check_rnn_direction(const OpContext& context, const std::string& prefix, const SequenceExtents& input,
                            Linking linking) {
  const int64_t units = check_cell(context, prefix, input.batch, input.features);
  if (linking == Linking::kCross) {
    require_dims(context, prefix + "aux_weights", {units, context.dims("aux_input")[2]});
  }
  return units;
}

Linking rnn_linking(const OpContext& context) {
  return linking_of(context, "fw_aux_weights", "bw_aux_weights");
}

// Computes a step for each point of time of `input` [time, batch, features], forwards or backwards. Returns the outputs
// in the order of time; `state` becomes the final hidden state.
at::Tensor rnn_sequence(const OpContext& context, const std::string& prefix, const at::Tensor& input,
                        const at::Tensor& auxiliary, bool backwards, at::Tensor& state) {
  const FuseCode activation = activation_of(context);
  const auto weights = [&](const char* name) { return stacked_weights(context, {prefix + name}); };
  at::Tensor sums = at::linear(input, weights("weights"), context.real((prefix + "bias").c_str()));
  if (auxiliary.defined()) sums.add_(at::linear(auxiliary, weights("aux_weights")));
  const at::Tensor recurrent = weights("recurrent_weights");
  return for_each_time(sums, backwards, [&](const at::Tensor& now) {
    return state = activate_state(at::linear(state, recurrent).add_(now), activation);
  });
}

}  // namespace

void rnn_rule(OpContext& context) {
  activation_of(context);
  const Dims& input = context.dims("input");
  const Dims output = {input[0], check_cell(context, "", input[0], input[1])};
  context.set_output(output, 0);
  context.set_output(output, 1);
}

void rnn(OpContext& context) {
  at::Tensor state = context.real("hidden_state_in");
  rnn_sequence(context, "", context.real("input").unsqueeze(0), {}, false, state);
  context.store(state, 0);
  context.store(state, 1);
}

void unidirectional_sequence_rnn_rule(OpContext& context) {
  activation_of(context);
  const int64_t time_major = context.integer("time_major");
  if (time_major != 0 && time_major != 1) context.refuse("time_major", "{} found, 0 or 1 needed", time_major);
  const SequenceExtents input = sequence_extents(context, "input");
  const int64_t units = check_cell(context, "", input.batch, input.features);
  context.set_output(sequence_dims(context, input, units), 0);
  if (context.count("hidden_state_out") == 1) context.set_output({input.batch, units}, 1);
}

void unidirectional_sequence_rnn(OpContext& context) {
  at::Tensor state = context.real("hidden_state_in");
  store_sequence(context, rnn_sequence(context, "", read_sequence(context, "input"), {}, false, state), 0);
  if (context.count("hidden_state_out") == 1) context.store(state, 1);
}

void bidirectional_sequence_rnn_rule(OpContext& context) {
  activation_of(context);
  const SequenceExtents input = sequence_extents(context, "input");
  const Linking linking = rnn_linking(context);
  const SequenceExtents backward_input = backward_extents(context, input, linking);
  const int64_t forward = check_rnn_direction(context, "fw_", input, linking);
  const int64_t backward = check_rnn_direction(context, "bw_", backward_input, linking);
  set_bidirectional_outputs(context, input, forward, backward, "fw_hidden_state_out",
                            {{input.batch, forward}, {input.batch, backward}});
}

void bidirectional_sequence_rnn(OpContext& context) {
  const BidirectionalInputs inputs = read_bidirectional_inputs(context, rnn_linking(context));
  at::Tensor forward = context.real("fw_hidden_state_in"), backward = context.real("bw_hidden_state_in");
  const at::Tensor forward_outputs = rnn_sequence(context, "fw_", inputs.forward, inputs.auxiliary, false, forward);
  const at::Tensor backward_outputs = rnn_sequence(context, "bw_", inputs.backward, inputs.auxiliary, true, backward);
  store_bidirectional_outputs(context, forward_outputs, backward_outputs, "fw_hidden_state_out", {forward, backward});
}

}  // namespace nnapi_convert::host
