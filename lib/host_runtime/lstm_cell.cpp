// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/lstm_cell.h"

#include <algorithm>
#include <limits>

namespace nnapi_convert::host {
namespace {

// The codes of LSTM's argument `activation`; other operations use FuseCode.
constexpr int64_t kNone = 0, kRelu = 1, kRelu6 = 3, kTanh = 4, kSigmoid = 6;

std::string weights_name(const std::string& prefix, const char* from, Gate gate) {
  return prefix + from + "_to_" + kGateNames[gate] + "_weights";
}

std::string gate_name(const std::string& prefix, Gate gate, const char* what) {
  return prefix + kGateNames[gate] + what;
}

std::vector<std::string> stacked_names(const std::string& prefix, const char* from, bool coupled) {
  std::vector<std::string> names;
  for (const Gate gate : {kInputGate, kForgetGate, kCellGate, kOutputGate}) {
    if (gate != kInputGate || !coupled) names.push_back(weights_name(prefix, from, gate));
  }
  return names;
}

void check_gate(const OpContext& context, const std::string& prefix, Gate gate, const LstmExtents& extents,
                int64_t features) {
  require_dims(context, weights_name(prefix, "input", gate), {extents.units, features});
  require_dims(context, weights_name(prefix, "recurrent", gate), {extents.units, extents.output});
  require_dims(context, gate_name(prefix, gate, "_gate_bias"), {extents.units});
}

void check_input_gate(const OpContext& context, const std::string& prefix, const LstmExtents& extents,
                      int64_t features) {
  const std::string weights = weights_name(prefix, "input", kInputGate);
  require_presence(context, weights_name(prefix, "recurrent", kInputGate), !extents.coupled, weights);
  require_presence(context, gate_name(prefix, kInputGate, "_gate_bias"), !extents.coupled, weights);
  if (!extents.coupled) check_gate(context, prefix, kInputGate, extents, features);
}

void check_peepholes(const OpContext& context, const std::string& prefix, const LstmExtents& extents) {
  const std::string last = weights_name(prefix, "cell", kOutputGate);
  const bool used = context.has(last.c_str());
  require_presence(context, weights_name(prefix, "cell", kForgetGate), used, last);
  const std::string& other = extents.coupled ? weights_name(prefix, "input", kInputGate) : last;
  require_presence(context, weights_name(prefix, "cell", kInputGate), used && !extents.coupled, other);
  for (const Gate gate : {kInputGate, kForgetGate, kOutputGate}) {
    const std::string name = weights_name(prefix, "cell", gate);
    if (context.has(name.c_str())) require_dims(context, name, {extents.units});
  }
}

void check_layer_norms(const OpContext& context, const std::string& prefix, const LstmExtents& extents) {
  const std::string last = gate_name(prefix, kOutputGate, "_layer_norm_weights");
  const bool used = context.has(last.c_str());
  for (const Gate gate : {kForgetGate, kCellGate}) {
    require_presence(context, gate_name(prefix, gate, "_layer_norm_weights"), used, last);
  }
  const std::string& other = extents.coupled ? weights_name(prefix, "input", kInputGate) : last;
  require_presence(context, gate_name(prefix, kInputGate, "_layer_norm_weights"), used && !extents.coupled, other);
  for (const Gate gate : {kInputGate, kForgetGate, kCellGate, kOutputGate}) {
    const std::string name = gate_name(prefix, gate, "_layer_norm_weights");
    if (context.has(name.c_str())) require_dims(context, name, {extents.units});
  }
}

void check_projection(const OpContext& context, const std::string& prefix, const LstmExtents& extents) {
  const std::string weights = prefix + "projection_weights", bias = prefix + "projection_bias";
  if (context.has(weights.c_str())) {
    require_dims(context, weights, {extents.output, extents.units});
    if (context.has(bias.c_str())) require_dims(context, bias, {extents.output});
    return;
  }
  require_presence(context, bias, false, weights);
  if (extents.output == extents.units) return;
  context.refuse(weights_name(prefix, "recurrent", kOutputGate).c_str(),
                 "{} columns found, those of the {} units needed without a projection", extents.output, extents.units);
}

at::Tensor activated(const at::Tensor& numbers, int64_t activation) {
  switch (activation) {
    case kRelu:
      return numbers.relu();
    case kRelu6:
      return numbers.clamp(0, 6);
    case kTanh:
      return numbers.tanh();
    case kSigmoid:
      return numbers.sigmoid();
    default:
      return numbers;
  }
}

// Normalises each row to mean 0 and variance 1.
at::Tensor normalized(const at::Tensor& numbers) {
  const at::Tensor spread = numbers.sub(numbers.mean(1, true));
  // A row of equal numbers becomes one of zeros.
  const at::Tensor variance = spread.square().mean(1, true).clamp_min_(std::numeric_limits<float>::min());
  return spread.div(variance.sqrt_());
}

void clip(at::Tensor& numbers, double bound) {
  if (bound > 0) numbers.clamp_(-bound, bound);
}

}  // namespace

LstmExtents check_lstm_cell(const OpContext& context, const std::string& prefix, int64_t batch, int64_t features) {
  LstmExtents extents;
  extents.batch = batch;
  extents.units = context.dims(weights_name(prefix, "input", kOutputGate).c_str())[0];
  extents.output = context.dims(weights_name(prefix, "recurrent", kOutputGate).c_str())[1];
  for (const Gate gate : {kForgetGate, kCellGate, kOutputGate}) check_gate(context, prefix, gate, extents, features);
  require_dims(context, prefix + "output_state_in", {batch, extents.output});
  require_dims(context, prefix + "cell_state_in", {batch, extents.units});
  extents.coupled = !context.has(weights_name(prefix, "input", kInputGate).c_str());
  check_input_gate(context, prefix, extents, features);
  check_peepholes(context, prefix, extents);
  check_layer_norms(context, prefix, extents);
  check_projection(context, prefix, extents);
  return extents;
}

void check_auxiliary_weights(const OpContext& context, const std::string& prefix, const LstmExtents& extents,
                             Linking linking) {
  const bool used = linking == Linking::kCross;
  const std::string last = weights_name(prefix, "aux_input", kOutputGate);
  const std::string input_weights = weights_name(prefix, "input", kInputGate);
  for (const Gate gate : {kInputGate, kForgetGate, kCellGate, kOutputGate}) {
    const bool coupled = gate == kInputGate && extents.coupled;
    const std::string name = weights_name(prefix, "aux_input", gate);
    if (!require_presence(context, name, used && !coupled, coupled ? input_weights : last)) continue;
    require_dims(context, name, {extents.units, context.dims("aux_input")[2]});
  }
}

void check_lstm_parameters(const OpContext& context) {
  const int64_t activation = context.integer("activation");
  constexpr std::array<int64_t, 5> kKnown = {kNone, kRelu, kRelu6, kTanh, kSigmoid};
  if (std::find(kKnown.begin(), kKnown.end(), activation) == kKnown.end()) {
    context.refuse("activation", "{} found, 0, 1, 3, 4 or 6 needed", activation);
  }
  for (const char* name : {"cell_clip", "projection_clip"}) {
    const double bound = context.number(name);
    if (bound < 0) context.refuse(name, "{} found, at least 0 needed", bound);
  }
}

LstmCell read_lstm_cell(const OpContext& context, const std::string& prefix, Linking linking) {
  LstmCell cell;
  cell.coupled = !context.has(weights_name(prefix, "input", kInputGate).c_str());
  cell.input_weights = stacked_weights(context, stacked_names(prefix, "input", cell.coupled));
  cell.recurrent_weights = stacked_weights(context, stacked_names(prefix, "recurrent", cell.coupled));
  if (linking == Linking::kCross) {
    cell.auxiliary_weights = stacked_weights(context, stacked_names(prefix, "aux_input", cell.coupled));
  }
  for (const Gate gate : {kInputGate, kForgetGate, kCellGate, kOutputGate}) {
    if (gate != kCellGate) cell.peepholes[gate] = optional_real(context, weights_name(prefix, "cell", gate));
    cell.layer_norms[gate] = optional_real(context, gate_name(prefix, gate, "_layer_norm_weights"));
    cell.biases[gate] = optional_real(context, gate_name(prefix, gate, "_gate_bias"));
  }
  cell.projection = optional_real(context, prefix + "projection_weights");
  cell.projection_bias = optional_real(context, prefix + "projection_bias");
  cell.activation = context.integer("activation");
  cell.cell_clip = context.number("cell_clip");
  cell.projection_clip = context.number("projection_clip");
  return cell;
}

LstmState read_lstm_state(const OpContext& context, const std::string& prefix) {
  return {context.real((prefix + "output_state_in").c_str()), context.real((prefix + "cell_state_in").c_str())};
}

LstmState lstm_step(const LstmCell& cell, const at::Tensor& sums, const LstmState& before) {
  const int64_t first = cell.coupled ? kForgetGate : kInputGate;
  const std::vector<at::Tensor> parts =
      at::linear(before.output, cell.recurrent_weights).add_(sums).chunk(4 - first, 1);
  // Returns the sum before a gate's activation; the gate's peephole reads `state`.
  const auto sum = [&](Gate gate, const at::Tensor& state) {
    at::Tensor numbers = parts[static_cast<std::size_t>(gate - first)];
    if (cell.peepholes[gate].defined()) numbers = numbers.add(state.mul(cell.peepholes[gate]));
    if (cell.layer_norms[gate].defined()) numbers = normalized(numbers).mul_(cell.layer_norms[gate]);
    return numbers.add(cell.biases[gate]);
  };
  const at::Tensor forget = sum(kForgetGate, before.cell).sigmoid_();
  const at::Tensor input = cell.coupled ? forget.neg().add_(1) : sum(kInputGate, before.cell).sigmoid_();
  LstmState after;
  after.cell = forget.mul(before.cell).add_(input.mul(activated(sum(kCellGate, {}), cell.activation)));
  clip(after.cell, cell.cell_clip);
  after.output = sum(kOutputGate, after.cell).sigmoid_().mul_(activated(after.cell, cell.activation));
  if (cell.projection.defined()) {
    after.output = at::linear(after.output, cell.projection, cell.projection_bias);
    clip(after.output, cell.projection_clip);
  }
  return after;
}

at::Tensor lstm_sequence(const LstmCell& cell, const at::Tensor& input, const at::Tensor& auxiliary, bool backwards,
                         LstmState& state) {
  at::Tensor sums = at::linear(input, cell.input_weights);
  if (auxiliary.defined()) sums.add_(at::linear(auxiliary, cell.auxiliary_weights));
  return for_each_time(sums, backwards, [&](const at::Tensor& now) {
    state = lstm_step(cell, now, state);
    return state.output;
  });
}

}  // namespace nnapi_convert::host
