// SPDX-License-Identifier: BSD-3-Clause
// LSTM, and over sequences UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM.
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/lstm_cell.h"

namespace nnapi_convert::host {
namespace {

// Checks that all or none of the layer normalization weights are given: they are newer than the operation.
void check_list_of_layer_norms(const OpContext& context) {
  if (context.count("input_layer_norm_weights") == context.count("output_layer_norm_weights")) return;
  context.refuse("input_layer_norm_weights",
                 "one without output_layer_norm_weights found, all four on the list needed");
}

LstmExtents check_direction(const OpContext& context, const std::string& prefix, const SequenceExtents& input,
                            Linking linking) {
  const LstmExtents extents = check_lstm_cell(context, prefix, input.batch, input.features);
  check_auxiliary_weights(context, prefix, extents, linking);
  return extents;
}

Linking lstm_linking(const OpContext& context) {
  return linking_of(context, "fw_aux_input_to_output_weights", "bw_aux_input_to_output_weights");
}

}  // namespace

void lstm_rule(OpContext& context) {
  check_lstm_parameters(context);
  check_list_of_layer_norms(context);
  const Dims& input = context.dims("input");
  const LstmExtents extents = check_lstm_cell(context, "", input[0], input[1]);
  context.set_output({extents.batch, extents.units * (extents.coupled ? 3 : 4)}, 0);
  context.set_output({extents.batch, extents.output}, 1);
  context.set_output({extents.batch, extents.units}, 2);
  context.set_output({extents.batch, extents.output}, 3);
}

void lstm(OpContext& context) {
  LstmState state = read_lstm_state(context, "");
  lstm_sequence(read_lstm_cell(context, "", Linking::kNone), context.real("input").unsqueeze(0), {}, false, state);
  // The scratch buffer has no meaning to the caller.
  context.store(at::zeros(context.dims("scratch_buffer")), 0);
  context.store(state.output, 1);
  context.store(state.cell, 2);
  context.store(state.output, 3);
}

void unidirectional_sequence_lstm_rule(OpContext& context) {
  check_lstm_parameters(context);
  const SequenceExtents input = sequence_extents(context, "input");
  if (context.count("output_state_out") != context.count("cell_state_out")) {
    context.refuse("output_state_out", "an output without cell_state_out found, both or none needed");
  }
  const LstmExtents extents = check_lstm_cell(context, "", input.batch, input.features);
  context.set_output(sequence_dims(context, input, extents.output), 0);
  if (context.count("cell_state_out") == 0) return;
  context.set_output({extents.batch, extents.output}, 1);
  context.set_output({extents.batch, extents.units}, 2);
}

void unidirectional_sequence_lstm(OpContext& context) {
  LstmState state = read_lstm_state(context, "");
  const LstmCell cell = read_lstm_cell(context, "", Linking::kNone);
  store_sequence(context, lstm_sequence(cell, read_sequence(context, "input"), {}, false, state), 0);
  if (context.count("cell_state_out") == 0) return;
  context.store(state.output, 1);
  context.store(state.cell, 2);
}

void bidirectional_sequence_lstm_rule(OpContext& context) {
  check_lstm_parameters(context);
  const SequenceExtents input = sequence_extents(context, "input");
  const Linking linking = lstm_linking(context);
  const SequenceExtents backward_input = backward_extents(context, input, linking);
  const LstmExtents forward = check_direction(context, "fw_", input, linking);
  const LstmExtents backward = check_direction(context, "bw_", backward_input, linking);
  set_bidirectional_outputs(context, input, forward.output, backward.output, "fw_output_state_out",
                            {{input.batch, forward.output},
                             {input.batch, forward.units},
                             {input.batch, backward.output},
                             {input.batch, backward.units}});
}

void bidirectional_sequence_lstm(OpContext& context) {
  const Linking linking = lstm_linking(context);
  const BidirectionalInputs inputs = read_bidirectional_inputs(context, linking);
  LstmState forward = read_lstm_state(context, "fw_"), backward = read_lstm_state(context, "bw_");
  const at::Tensor forward_outputs =
      lstm_sequence(read_lstm_cell(context, "fw_", linking), inputs.forward, inputs.auxiliary, false, forward);
  const at::Tensor backward_outputs =
      lstm_sequence(read_lstm_cell(context, "bw_", linking), inputs.backward, inputs.auxiliary, true, backward);
  store_bidirectional_outputs(context, forward_outputs, backward_outputs, "fw_output_state_out",
                              {forward.output, forward.cell, backward.output, backward.cell});
}

}  // namespace nnapi_convert::host
