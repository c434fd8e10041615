// SPDX-License-Identifier: BSD-3-Clause
// Reductions, norms and elementwise formulas.
#include <algorithm>
#include <set>

#include "lib/litert/operations.h"

namespace nnapi_convert::litert {
namespace {

// An operation along the last axis, on a tensor that has that axis elsewhere: transposes there and back.
struct LastAxis {
  TensorId input, output;     // with the axis at the end
  std::vector<int32_t> perm;  // empty: it is at the end already
};

LastAxis with_axis_last(Graph& graph, TensorId input, TensorId output, int32_t axis) {
  const auto rank = static_cast<int32_t>(graph.at(input).shape.size());
  LastAxis result{input, output, {}};
  if (axis == rank - 1) return result;
  for (int32_t i = 0; i < rank; ++i) result.perm.push_back(i);
  std::swap(result.perm[static_cast<size_t>(axis)], result.perm.back());  // its own inverse
  result.input = graph.transposed(input, result.perm);
  result.output = graph.like(output, graph.dims_of(result.input));
  return result;
}

void finish_last_axis(Graph& graph, const LastAxis& of, TensorId output) {
  if (!of.perm.empty()) graph.transpose_into(of.output, output, of.perm);
}

int32_t last_axis_or(const OperationWriter& w, const char* name) {
  const size_t rank = w.operand_of("input")->dims.size();
  return w.has(name) ? w.axis(name, rank) : static_cast<int32_t>(rank) - 1;
}

// Returns the argument's axes counted from the front, each once.
std::vector<int32_t> axes_of(const OperationWriter& w, size_t rank) {
  std::set<int32_t> axes;
  for (const int32_t axis : w.integers("axes")) axes.insert(axis < 0 ? axis + static_cast<int32_t>(rank) : axis);
  return {axes.begin(), axes.end()};
}

TensorId binary(Graph& graph, Builtin code, Options options, TensorId a, TensorId b) {
  const TensorId result = graph.like(a);
  graph.emit(code, {a, b}, {result}, options);
  return result;
}

// Returns the mean over height and width, which stay as axes of size 1.
TensorId mean_of_image(Graph& graph, TensorId input) {
  Dims dims = graph.dims_of(input);
  dims[1] = 1;
  dims[2] = 1;
  const TensorId result = graph.like(input, dims);
  const TensorId axes = graph.ints({1, 2});
  Table options;
  options.set(0, true, false);
  graph.emit(Builtin::MEAN, {input, axes}, {result}, Options::REDUCER, std::move(options));
  return result;
}

}  // namespace

void write_reduction(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const size_t rank = w.operand_of("input")->dims.size();
  const std::vector<int32_t> axes = axes_of(w, rank);
  const bool is_mean = w.operation.code == OperationCode::MEAN;
  bool keeps = is_mean ? w.integer("keep_dims") != 0 : w.flag("keep_dims");
  // NNAPI gives a result without axes the shape [1].
  const bool has_none_left = !keeps && axes.size() == rank;
  if (has_none_left && rank == 1) keeps = true;
  const bool is_reshaped = has_none_left && rank > 1;
  const TensorId result = is_reshaped ? graph.like(output, {}) : output;
  const TensorId axes_tensor = graph.ints(axes);
  Table options;
  options.set(0, keeps, false);
  graph.emit(find_row(w.operation.code)->builtin, {input, axes_tensor}, {result}, Options::REDUCER, std::move(options));
  if (is_reshaped) graph.reshape_into(result, output);
}

void write_arg(OperationWriter& w) {
  Graph& graph = w.graph;
  const OperationRow& row = *find_row(w.operation.code);
  const TensorId input = w.tensor("input"), output = w.output();
  const size_t rank = w.operand_of("input")->dims.size();
  const TensorId axis = graph.scalar_int(w.axis("axis", rank));
  const TensorId result = rank == 1 ? graph.like(output, {}) : output;
  Table options;
  options.set(0, static_cast<int8_t>(TensorType::INT32));
  graph.emit(row.builtin, {input, axis}, {result}, row.options, std::move(options));
  if (result != output) graph.reshape_into(result, output);
}

// LiteRT compares the order of numbers only, so bools are compared as int32.
void write_comparison(OperationWriter& w) {
  Graph& graph = w.graph;
  const OperationRow& row = *find_row(w.operation.code);
  std::vector<TensorId> inputs{w.tensor("input1"), w.tensor("input2")};
  const TensorId output = w.output();
  const bool is_order = row.builtin != Builtin::EQUAL && row.builtin != Builtin::NOT_EQUAL;
  for (TensorId& each : inputs) {
    if (!is_order || graph.at(each).type != TensorType::BOOL) continue;
    const TensorId number = graph.like(each);
    graph.at(number).type = TensorType::INT32;
    Table options;
    options.set(0, static_cast<int8_t>(TensorType::BOOL));
    options.set(1, static_cast<int8_t>(TensorType::INT32));
    graph.emit(Builtin::CAST, {each}, {number}, Options::CAST, std::move(options));
    each = number;
  }
  graph.emit(row.builtin, inputs, {output}, row.options);
}

// Writes ABS of int32 by NEG and MAXIMUM: most runtimes are older than LiteRT's ABS of int32.
void write_abs(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  if (graph.at(input).type == TensorType::FLOAT32) {
    return graph.emit(Builtin::ABS, {input}, {output}, Options::ABS);
  }
  const TensorId negated = graph.like(input);
  graph.emit(Builtin::NEG, {input}, {negated}, Options::NEG);
  graph.emit(Builtin::MAXIMUM, {input, negated}, {output}, Options::MAXIMUM_MINIMUM);
}

// NNAPI rounds quotients of int32 down, LiteRT's DIV towards zero.
void write_div(OperationWriter& w) {
  const TensorId first = w.tensor("input1"), second = w.tensor("input2"), output = w.output();
  if (w.graph.at(output).type == TensorType::INT32) return w.graph.emit(Builtin::FLOOR_DIV, {first, second}, {output});
  w.graph.emit(Builtin::DIV, {first, second}, {output}, Options::DIV, w.activation_options(0, w.integer("activation")));
}

// LiteRT's ELU has alpha 1: for another alpha the negative part is multiplied by it.
void write_elu(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const float alpha = w.number("alpha");
  if (alpha == 1) return graph.emit(Builtin::ELU, {input}, {output});
  const TensorId zero = graph.scalar_float(0), factor = graph.scalar_float(alpha);
  const TensorId negative = binary(graph, Builtin::MINIMUM, Options::MAXIMUM_MINIMUM, input, zero);
  const TensorId bent = graph.like(input), positive = graph.like(input);
  graph.emit(Builtin::ELU, {negative}, {bent});
  const TensorId scaled = binary(graph, Builtin::MUL, Options::MUL, bent, factor);
  graph.emit(Builtin::RELU, {input}, {positive});
  graph.emit(Builtin::ADD, {positive, scaled}, {output}, Options::ADD);
}

// One constant slope becomes LEAKY_RELU: TensorFlow Lite 2.13's PRELU reads a float slope for each channel, even if it
// has one slope for all channels.
void write_prelu(OperationWriter& w) {
  const TensorId input = w.tensor("input"), output = w.output();
  const nnapi::Operand& slopes = *w.operand_of("alpha");
  const nnapi::Constant* const value = slopes.constant();
  if (value == nullptr || value->element_count() != 1 || slopes.type != OperandCode::TENSOR_FLOAT32) {
    const TensorId alpha = w.tensor("alpha");
    return w.graph.emit(Builtin::PRELU, {input, alpha}, {output});
  }
  Table options;
  options.set(0, value->floats()[0]);
  w.graph.emit(Builtin::LEAKY_RELU, {input}, {output}, Options::LEAKY_RELU, std::move(options));
}

void write_softmax(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const LastAxis of = with_axis_last(graph, input, output, last_axis_or(w, "axis"));
  Table options;
  options.set(0, w.number("beta"));
  graph.emit(Builtin::SOFTMAX, {of.input}, {of.output}, Options::SOFTMAX, std::move(options));
  finish_last_axis(graph, of, output);
}

void write_log_softmax(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  LastAxis of = with_axis_last(graph, input, output, last_axis_or(w, "axis"));
  const float beta = w.number("beta");
  if (beta != 1) {
    const TensorId factor = graph.scalar_float(beta);
    of.input = binary(graph, Builtin::MUL, Options::MUL, of.input, factor);
  }
  graph.emit(Builtin::LOG_SOFTMAX, {of.input}, {of.output}, Options::LOG_SOFTMAX);
  finish_last_axis(graph, of, output);
}

void write_l2_normalization(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const LastAxis of = with_axis_last(graph, input, output, last_axis_or(w, "axis"));
  graph.emit(Builtin::L2_NORMALIZATION, {of.input}, {of.output}, Options::L2_NORM);
  finish_last_axis(graph, of, output);
}

// Reshapes tensors of lower ranks to rank 4, the only one that LiteRT takes.
void write_local_response_normalization(OperationWriter& w) {
  constexpr size_t kRank = 4;
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  LastAxis of = with_axis_last(graph, input, output, last_axis_or(w, "axis"));
  const TensorId result = of.output;
  Dims dims = graph.dims_of(of.input);
  const bool is_raised = dims.size() < kRank;
  if (is_raised) {
    dims.insert(dims.begin(), kRank - dims.size(), Dim(1));
    of.input = graph.reshaped(of.input, dims);
    of.output = graph.like(of.input);
  }
  Table options;
  options.set(0, static_cast<int32_t>(w.integer("radius")));
  options.set(1, w.number("bias"));
  options.set(2, w.number("alpha"));
  options.set(3, w.number("beta"));
  graph.emit(Builtin::LOCAL_RESPONSE_NORMALIZATION, {of.input}, {of.output}, Options::LOCAL_RESPONSE_NORMALIZATION,
             std::move(options));
  if (is_raised) graph.reshape_into(of.output, result);
  of.output = result;
  finish_last_axis(graph, of, output);
}

// (x - mean) * gamma / sqrt(variance + epsilon) + beta, for each image and channel.
void write_instance_normalization(OperationWriter& w) {
  w.refuse_nchw();
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const TensorId mean = mean_of_image(graph, input);
  const TensorId centred = binary(graph, Builtin::SUB, Options::SUB, input, mean);
  const TensorId squares = binary(graph, Builtin::MUL, Options::MUL, centred, centred);
  const TensorId variance = mean_of_image(graph, squares);
  const TensorId epsilon = graph.scalar_float(w.number("epsilon")), gamma = graph.scalar_float(w.number("gamma"));
  const TensorId beta = graph.scalar_float(w.number("beta"));
  const TensorId above_zero = binary(graph, Builtin::ADD, Options::ADD, variance, epsilon);
  const TensorId inverse = graph.like(above_zero);
  graph.emit(Builtin::RSQRT, {above_zero}, {inverse});
  const TensorId factor = binary(graph, Builtin::MUL, Options::MUL, inverse, gamma);
  const TensorId scaled = binary(graph, Builtin::MUL, Options::MUL, centred, factor);
  graph.emit(Builtin::ADD, {scaled, beta}, {output}, Options::ADD);
}

}  // namespace nnapi_convert::litert
