// SPDX-License-Identifier: BSD-3-Clause
// Recurrent layers. LiteRT's own keep their state in the file, which its new API refuses, so a layer becomes the
// operators of its cell, step by step.
#include <fmt/format.h>

#include "lib/litert/operations.h"

namespace nnapi_convert::litert {
namespace {

constexpr int64_t kMostSteps = 1024;  // each step becomes some ten operators

// The activations of NNAPI's recurrent operations; other operations fuse fewer (FuseCode).
enum class CellActivation : int64_t { NONE = 0, RELU = 1, RELU1 = 2, RELU6 = 3, TANH = 4, SIGMOID = 6 };

TensorId unary_like(Graph& graph, Builtin code, TensorId x) {
  const TensorId result = graph.like(x);
  graph.emit(code, {x}, {result});
  return result;
}

TensorId combined(Graph& graph, Builtin code, Options options, TensorId a, TensorId b) {
  const TensorId result = graph.like(a);
  graph.emit(code, {a, b}, {result}, options);
  return result;
}

TensorId activated(Graph& graph, TensorId x, int64_t activation) {
  switch (static_cast<CellActivation>(activation)) {
    case CellActivation::NONE:
      return x;
    case CellActivation::RELU:
      return unary_like(graph, Builtin::RELU, x);
    case CellActivation::RELU1:
      return unary_like(graph, Builtin::RELU_N1_TO_1, x);
    case CellActivation::RELU6:
      return unary_like(graph, Builtin::RELU6, x);
    case CellActivation::TANH:
      return unary_like(graph, Builtin::TANH, x);
    case CellActivation::SIGMOID:
      return unary_like(graph, Builtin::LOGISTIC, x);
  }
  OperationWriter::refuse(fmt::format("the activation {}", activation), "ReLU, ReLU6, tanh or sigmoid");
}

// Returns x * weights + bias for each row of x; the bias may be left out.
TensorId matrix_product(Graph& graph, TensorId x, TensorId weights, TensorId bias) {
  const TensorId result = graph.like(x, {graph.dims_of(x)[0], graph.dims_of(weights)[0]});
  graph.emit(Builtin::FULLY_CONNECTED, {x, weights, bias}, {result}, Options::FULLY_CONNECTED);
  return result;
}

std::vector<TensorId> split_into(Graph& graph, TensorId x, int32_t axis, size_t count) {
  Dims dims = graph.dims_of(x);
  Dim& size = dims[static_cast<size_t>(axis)];
  size = size.value() / static_cast<int64_t>(count);
  std::vector<TensorId> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(graph.like(x, dims));
  if (count == 1) return {x};
  const TensorId axis_tensor = graph.scalar_int(axis);
  Table options;
  options.set(0, static_cast<int32_t>(count));
  graph.emit(Builtin::SPLIT, {axis_tensor, x}, parts, Options::SPLIT, std::move(options));
  return parts;
}

// Returns the matrices or vectors of the four gates, one below the other. Constants are joined when the file is
// written.
TensorId joined_gates(OperationWriter& w, const std::vector<std::string>& names) {
  Graph& graph = w.graph;
  std::vector<nnapi::Constant> parts;
  std::vector<TensorId> tensors;
  int64_t rows = 0;
  for (const std::string& name : names) {
    const nnapi::Operand* operand = w.operand_of(name.c_str());
    if (operand == nullptr) w.refuse("a layer without " + name, "all four gates");
    if (operand->constant() != nullptr && operand->constant()->type() == nnapi::DataType::kFloat32) {
      parts.push_back(*operand->constant());
    }
    rows += operand->dims[0].value();
  }
  Dims dims = w.operand_of(names[0].c_str())->dims;
  dims[0] = rows;
  if (parts.size() == names.size()) {
    std::vector<int32_t> shape;
    for (const Dim& dim : dims) shape.push_back(static_cast<int32_t>(dim.value()));
    return graph.joined(parts, shape);
  }
  for (const std::string& name : names) tensors.push_back(w.tensor(name.c_str()));
  const TensorId result = graph.like(tensors[0], dims);
  Table options;
  graph.emit(Builtin::CONCATENATION, tensors, {result}, Options::CONCATENATION, std::move(options));
  return result;
}

// The weights of an LSTM, with the gates in the order input, forget, cell, output.
struct LstmWeights {
  TensorId input, recurrent, bias, projection = kLeftOut, projection_bias = kLeftOut;
  int64_t activation;
};

std::vector<std::string> gate_names(const std::string& before, const std::string& after) {
  std::vector<std::string> names;
  for (const char* gate : {"input", "forget", "cell", "output"}) names.push_back(before + gate + after);
  return names;
}

// Returns a layer's weights; in a bidirectional layer `prefix` is "fw_" or "bw_". Refuses layers with peepholes, layer
// norms, an auxiliary input or clipping.
LstmWeights lstm_weights(OperationWriter& w, const std::string& prefix) {
  for (const char* part : {"cell_to_forget_weights", "cell_to_input_weights", "cell_to_output_weights",
                           "input_layer_norm_weights", "forget_layer_norm_weights", "aux_input_to_forget_weights"}) {
    const std::string name = prefix + part;
    if (w.has(name.c_str())) w.refuse("a layer with " + name, "none");
  }
  for (const char* clip : {"cell_clip", "projection_clip"}) {
    if (w.number(clip) > 0) w.refuse(fmt::format("{} {}", clip, w.number(clip)), "none");
  }
  LstmWeights weights{};
  weights.input = joined_gates(w, gate_names(prefix + "input_to_", "_weights"));
  weights.recurrent = joined_gates(w, gate_names(prefix + "recurrent_to_", "_weights"));
  weights.bias = joined_gates(w, gate_names(prefix, "_gate_bias"));
  weights.projection = w.tensor((prefix + "projection_weights").c_str());
  weights.projection_bias = w.tensor((prefix + "projection_bias").c_str());
  weights.activation = w.integer("activation");
  return weights;
}

struct LstmState {
  TensorId output, cell;
};

// Writes one step. `from_input` is the input times its weights, with the bias.
LstmState lstm_step(Graph& graph, const LstmWeights& weights, TensorId from_input, const LstmState& state) {
  const TensorId from_state = matrix_product(graph, state.output, weights.recurrent, kLeftOut);
  const TensorId sums = combined(graph, Builtin::ADD, Options::ADD, from_input, from_state);
  const std::vector<TensorId> gates = split_into(graph, sums, 1, 4);
  const TensorId input_gate = unary_like(graph, Builtin::LOGISTIC, gates[0]);
  const TensorId forget_gate = unary_like(graph, Builtin::LOGISTIC, gates[1]);
  const TensorId candidate = activated(graph, gates[2], weights.activation);
  const TensorId output_gate = unary_like(graph, Builtin::LOGISTIC, gates[3]);
  const TensorId kept = combined(graph, Builtin::MUL, Options::MUL, forget_gate, state.cell);
  const TensorId added = combined(graph, Builtin::MUL, Options::MUL, input_gate, candidate);
  const TensorId cell = combined(graph, Builtin::ADD, Options::ADD, kept, added);
  const TensorId shown = activated(graph, cell, weights.activation);
  TensorId output = combined(graph, Builtin::MUL, Options::MUL, output_gate, shown);
  if (weights.projection != kLeftOut) {
    output = matrix_product(graph, output, weights.projection, weights.projection_bias);
  }
  return {output, cell};
}

// Puts a computed tensor in the place of an operation's result.
void set_output(OperationWriter& w, size_t index, TensorId tensor) {
  const nnapi::Operand& operand = w.output_operand(index);
  if (!operand.name.empty()) w.graph.at(tensor).name = operand.name;
  w.graph.put(w.operation.outputs[index], tensor);
}

// A sequence: all steps' inputs as one matrix [steps * batch, features], for one product with the weights.
struct Sequence {
  TensorId rows;
  int64_t steps, batch;
};

Sequence sequence_of(OperationWriter& w, bool is_time_major) {
  Graph& graph = w.graph;
  const Dims& dims = w.operand_of("input")->dims;
  if (!all_fixed(dims)) w.refuse("an open size", "known numbers of steps", "fix the sizes by --input");
  TensorId input = w.tensor("input");
  if (!is_time_major && dims[0] != Dim(1) && dims[1] != Dim(1)) input = graph.transposed(input, {1, 0, 2});
  const int64_t steps = dims[is_time_major ? 0 : 1].value(), batch = dims[is_time_major ? 1 : 0].value();
  if (steps > kMostSteps) {
    w.refuse(fmt::format("{} steps", steps), fmt::format("at most {}", kMostSteps), "use shorter sequences");
  }
  return {graph.reshaped(input, {steps * batch, dims[2]}), steps, batch};
}

// Returns the outputs of all steps as [steps, batch, features], or with the batch first.
TensorId joined_steps(Graph& graph, std::vector<TensorId> steps, bool is_time_major) {
  const Dims dims = graph.dims_of(steps[0]);
  const auto count = static_cast<int64_t>(steps.size());
  const Dims each = is_time_major ? Dims{1, dims[0], dims[1]} : Dims{dims[0], 1, dims[1]};
  for (TensorId& step : steps) step = graph.reshaped(step, each);
  if (count == 1) return steps[0];
  const TensorId result =
      graph.like(steps[0], is_time_major ? Dims{count, dims[0], dims[1]} : Dims{dims[0], count, dims[1]});
  Table options;
  options.set(0, is_time_major ? 0 : 1);
  graph.emit(Builtin::CONCATENATION, std::move(steps), {result}, Options::CONCATENATION, std::move(options));
  return result;
}

// Returns the number of the step that is computed as the i-th.
size_t step_at(size_t i, size_t count, bool is_backward) {
  return is_backward ? count - 1 - i : i;
}

struct LstmRun {
  std::vector<TensorId> outputs;  // by step
  LstmState last;
};

LstmRun run_lstm(Graph& graph, const LstmWeights& weights, const Sequence& sequence, LstmState state,
                 bool is_backward) {
  const TensorId from_inputs = matrix_product(graph, sequence.rows, weights.input, weights.bias);
  const auto count = static_cast<size_t>(sequence.steps);
  const std::vector<TensorId> by_step = split_into(graph, from_inputs, 0, count);
  LstmRun run{std::vector<TensorId>(count), state};
  for (size_t i = 0; i < count; ++i) {
    const size_t step = step_at(i, count, is_backward);
    run.last = lstm_step(graph, weights, by_step[step], run.last);
    run.outputs[step] = run.last.output;
  }
  return run;
}

struct RnnWeights {
  TensorId input, recurrent, bias;
  int64_t activation;
};

RnnWeights rnn_weights(OperationWriter& w, const std::string& prefix) {
  if (w.has((prefix + "aux_weights").c_str())) w.refuse("a layer with an auxiliary input", "none");
  return {w.tensor((prefix + "weights").c_str()), w.tensor((prefix + "recurrent_weights").c_str()),
          w.tensor((prefix + "bias").c_str()), w.integer("activation")};
}

TensorId rnn_step(Graph& graph, const RnnWeights& weights, TensorId from_input, TensorId state) {
  const TensorId from_state = matrix_product(graph, state, weights.recurrent, kLeftOut);
  const TensorId sums = combined(graph, Builtin::ADD, Options::ADD, from_input, from_state);
  return activated(graph, sums, weights.activation);
}

struct RnnRun {
  std::vector<TensorId> outputs;
  TensorId last;
};

RnnRun run_rnn(Graph& graph, const RnnWeights& weights, const Sequence& sequence, TensorId state, bool is_backward) {
  const TensorId from_inputs = matrix_product(graph, sequence.rows, weights.input, weights.bias);
  const auto count = static_cast<size_t>(sequence.steps);
  const std::vector<TensorId> by_step = split_into(graph, from_inputs, 0, count);
  RnnRun run{std::vector<TensorId>(count), state};
  for (size_t i = 0; i < count; ++i) {
    const size_t step = step_at(i, count, is_backward);
    run.last = rnn_step(graph, weights, by_step[step], run.last);
    run.outputs[step] = run.last;
  }
  return run;
}

// Sets the results of a bidirectional layer: both directions' outputs, merged or not, then their last states.
void set_directions(OperationWriter& w, const std::vector<TensorId>& forward, const std::vector<TensorId>& backward,
                    const std::vector<TensorId>& states) {
  Graph& graph = w.graph;
  const bool is_time_major = w.flag("time_major");
  const TensorId first = joined_steps(graph, forward, is_time_major);
  const TensorId second = joined_steps(graph, backward, is_time_major);
  size_t next = 0;
  if (w.flag("merge_outputs")) {
    Dims dims = graph.dims_of(first);
    dims[2] += graph.dims_of(second)[2];
    const TensorId both = graph.like(first, dims);
    Table options;
    options.set(0, 2);
    graph.emit(Builtin::CONCATENATION, {first, second}, {both}, Options::CONCATENATION, std::move(options));
    set_output(w, next++, both);
  } else {
    set_output(w, next++, first);
    set_output(w, next++, second);
  }
  for (size_t i = 0; next < w.operation.outputs.size(); ++next, ++i) set_output(w, next, states.at(i));
}

}  // namespace

void write_lstm(OperationWriter& w) {
  Graph& graph = w.graph;
  const LstmWeights weights = lstm_weights(w, "");
  const TensorId input = w.tensor("input");
  const TensorId from_input = matrix_product(graph, input, weights.input, weights.bias);
  const LstmState state{w.tensor("output_state_in"), w.tensor("cell_state_in")};
  const LstmState next = lstm_step(graph, weights, from_input, state);
  // The first output is scratch memory of old drivers.
  set_output(w, 1, next.output);
  set_output(w, 2, next.cell);
  set_output(w, 3, next.output);
}

void write_sequence_lstm(OperationWriter& w) {
  const LstmWeights weights = lstm_weights(w, "");
  const bool is_time_major = w.flag("time_major");
  const Sequence sequence = sequence_of(w, is_time_major);
  const LstmRun run =
      run_lstm(w.graph, weights, sequence, {w.tensor("output_state_in"), w.tensor("cell_state_in")}, false);
  set_output(w, 0, joined_steps(w.graph, run.outputs, is_time_major));
  if (w.operation.outputs.size() > 1) set_output(w, 1, run.last.output);
  if (w.operation.outputs.size() > 2) set_output(w, 2, run.last.cell);
}

void write_bidirectional_lstm(OperationWriter& w) {
  if (w.has("aux_input")) w.refuse("a layer with an auxiliary input", "none");
  const LstmWeights forward = lstm_weights(w, "fw_"), backward = lstm_weights(w, "bw_");
  const Sequence sequence = sequence_of(w, w.flag("time_major"));
  const LstmRun first =
      run_lstm(w.graph, forward, sequence, {w.tensor("fw_output_state_in"), w.tensor("fw_cell_state_in")}, false);
  const LstmRun second =
      run_lstm(w.graph, backward, sequence, {w.tensor("bw_output_state_in"), w.tensor("bw_cell_state_in")}, true);
  set_directions(w, first.outputs, second.outputs,
                 {first.last.output, first.last.cell, second.last.output, second.last.cell});
}

void write_rnn(OperationWriter& w) {
  const RnnWeights weights = rnn_weights(w, "");
  const TensorId input = w.tensor("input");
  const TensorId from_input = matrix_product(w.graph, input, weights.input, weights.bias);
  const TensorId next = rnn_step(w.graph, weights, from_input, w.tensor("hidden_state_in"));
  set_output(w, 0, next);
  set_output(w, 1, next);
}

void write_sequence_rnn(OperationWriter& w) {
  const RnnWeights weights = rnn_weights(w, "");
  const bool is_time_major = w.integer("time_major") != 0;
  const Sequence sequence = sequence_of(w, is_time_major);
  const RnnRun run = run_rnn(w.graph, weights, sequence, w.tensor("hidden_state_in"), false);
  set_output(w, 0, joined_steps(w.graph, run.outputs, is_time_major));
  if (w.operation.outputs.size() > 1) set_output(w, 1, run.last);
}

void write_bidirectional_rnn(OperationWriter& w) {
  if (w.has("aux_input")) w.refuse("a layer with an auxiliary input", "none");
  const RnnWeights forward = rnn_weights(w, "fw_"), backward = rnn_weights(w, "bw_");
  const Sequence sequence = sequence_of(w, w.flag("time_major"));
  const RnnRun first = run_rnn(w.graph, forward, sequence, w.tensor("fw_hidden_state_in"), false);
  const RnnRun second = run_rnn(w.graph, backward, sequence, w.tensor("bw_hidden_state_in"), true);
  set_directions(w, first.outputs, second.outputs, {first.last, second.last});
}

}  // namespace nnapi_convert::litert
