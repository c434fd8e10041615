// SPDX-License-Identifier: BSD-3-Clause
// Convolutions and products of matrices. LiteRT's filters have NNAPI's order, and its int8 weights are symmetric.
#include "lib/litert/operations.h"
#include "lib/litert/windows.h"

namespace nnapi_convert::litert {
namespace {

// The tensors of a weighted operation in types that LiteRT computes with.
struct Weighted {
  TensorId input, filter, bias, output;
  TensorId given_output;  // differs from `output` where the operation stays in uint8
};

Tensor as_uint8(Tensor tensor) {
  tensor.type = TensorType::UINT8;
  for (int64_t& zero_point : tensor.zero_points) zero_point += kSignedShift;
  return tensor;
}

// Gives the bias the scale of the products of input and filter.
void set_bias_scales(Graph& graph, const Weighted& of) {
  Tensor& bias = graph.at(of.bias);
  if (bias.type != TensorType::INT32) return;
  const Tensor &input = graph.at(of.input), &filter = graph.at(of.filter);
  bias.scales.clear();
  for (const float scale : filter.scales) bias.scales.push_back(input.scales[0] * scale);
  bias.zero_points.assign(bias.scales.size(), 0);
  bias.channel_axis = 0;
}

// Returns true for weights whose zero point isn't 0 as int8. LiteRT's convolutions refuse such int8 weights, and
// XNNPACK's FULLY_CONNECTED ignores the zero point. So the weights stay uint8, and the operation, too, between exact
// QUANTIZEs.
bool stays_uint8(const Tensor& filter) {
  return filter.type == TensorType::INT8 && filter.zero_points[0] != 0;
}

TensorId filter_tensor(OperationWriter& w, const char* name) {
  Graph& graph = w.graph;
  const nnapi::Operand& operand = *w.operand_of(name);
  const Tensor described = graph.described(operand);
  if (operand.constant() == nullptr || described.type != TensorType::INT8) return w.tensor(name);
  if (!stays_uint8(described)) return graph.symmetric_constant_of(operand);
  return operand.type == OperandCode::TENSOR_QUANT8_ASYMM ? graph.uint8_constant_of(operand) : w.tensor(name);
}

Weighted weighted(OperationWriter& w, const char* filter_name) {
  Graph& graph = w.graph;
  const TensorId filter = filter_tensor(w, filter_name);
  Weighted result{w.tensor("input"), filter, w.tensor("bias"), w.output(), kLeftOut};
  result.given_output = result.output;
  // Operations with different scales may share a bias.
  Tensor bias = graph.at(result.bias);
  if (bias.is_constant()) result.bias = graph.add(std::move(bias));
  if (stays_uint8(graph.at(filter))) result.filter = graph.requantised(filter, as_uint8(graph.at(filter)));
  const TensorType weights_type = graph.at(result.filter).type, type = graph.at(result.input).type;
  if (weights_type == TensorType::UINT8 && type == TensorType::INT8) {
    result.input = graph.requantised(result.input, as_uint8(graph.at(result.input)));
    Tensor output = as_uint8(graph.at(result.output));
    output.name.clear();
    result.output = graph.add(std::move(output));
  }
  set_bias_scales(graph, result);
  return result;
}

void finish(Graph& graph, const Weighted& of) {
  if (of.output != of.given_output) graph.quantise_into(of.output, of.given_output);
}

Pair filter_size(const OperationWriter& w) {
  const Dims& dims = w.operand_of("filter")->dims;
  return {dims[1].value(), dims[2].value()};
}

void write_convolution(OperationWriter& w, Builtin builtin, Options options_type) {
  w.refuse_nchw();
  Graph& graph = w.graph;
  Weighted of = weighted(w, "filter");
  Window window = window_of(w, filter_size(w));
  const std::optional<Padding> scheme = find_scheme(window, *w.operand_of("input"), w.output_operand());
  if (!scheme) of.input = padded(graph, of.input, window);
  Table options;
  options.set(0, static_cast<int8_t>(scheme.value_or(Padding::VALID)));
  options.set(1, static_cast<int32_t>(window.stride[1]));
  options.set(2, static_cast<int32_t>(window.stride[0]));
  const bool is_depthwise = builtin == Builtin::DEPTHWISE_CONV_2D;
  if (is_depthwise) options.set(3, static_cast<int32_t>(w.integer("depth_multiplier")));
  options.set(is_depthwise ? 4 : 3, static_cast<int8_t>(w.integer("activation")));
  options.set(is_depthwise ? 5 : 4, static_cast<int32_t>(window.dilation[1]), 1);
  options.set(is_depthwise ? 6 : 5, static_cast<int32_t>(window.dilation[0]), 1);
  graph.emit(builtin, {of.input, of.filter, of.bias}, {of.output}, options_type, std::move(options));
  finish(graph, of);
}

// Returns how many more sums a transposed convolution computes along an axis than the result has, counted behind the
// first `before` sums. Throws RefusedOperation if that depends on an open size.
int64_t left_out(const Window& window, const Dims& in, const Dims& out, size_t i, int64_t before) {
  const Dim all = (in[i + 1] - Dim(1)) * Dim(window.stride[i]) + Dim(window.filter[i]);
  const Dim difference = all - out[i + 1] - Dim(before);
  if (!difference.is_fixed()) {
    OperationWriter::refuse("padding that depends on an open size", "padding by known numbers",
                            "fix the sizes by --input");
  }
  return difference.value();
}

// Returns the scheme of TRANSPOSE_CONV that drops as many sums at the borders as NNAPI's padding does; nothing if none
// does. Then VALID with a larger output computes all sums, and the result is cut out of them.
std::optional<Padding> transposed_scheme(const Window& window, const Dims& in, const Dims& out) {
  if (!window.has_numbers) return window.scheme;
  bool is_same = true, is_valid = true;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t difference = left_out(window, in, out, i, 0);
    const Dim read = (out[i + 1] + Dim(window.stride[i] - 1)).floor_div(window.stride[i]);
    is_same = is_same && in[i + 1] == read && window.before[i] == std::max<int64_t>(difference, 0) / 2;
    is_valid = is_valid && window.before[i] == 0 && difference <= 0;
  }
  if (is_valid) return Padding::VALID;
  return is_same ? std::optional(Padding::SAME) : std::nullopt;
}

TensorId cut_tensor(Graph& graph, const Weighted& of, const Window& window, const Dims& in) {
  const Dims out = graph.dims_of(of.output);
  Dims dims = out;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t behind = left_out(window, in, out, i, window.before[i]);
    dims[i + 1] += Dim(window.before[i] + std::max<int64_t>(behind, 0));
  }
  return graph.like(of.output, dims);
}

// Returns the operator for an activation. It stands by itself, as delegates don't take the newer version of
// TRANSPOSE_CONV that contains an activation.
Builtin activation_builtin(int64_t activation) {
  switch (static_cast<FuseCode>(activation)) {
    case FuseCode::RELU1:
      return Builtin::RELU_N1_TO_1;
    case FuseCode::RELU6:
      return Builtin::RELU6;
    default:
      return Builtin::RELU;
  }
}

}  // namespace

void write_conv_2d(OperationWriter& w) {
  write_convolution(w, Builtin::CONV_2D, Options::CONV_2D);
}

void write_grouped_conv_2d(OperationWriter& w) {
  write_convolution(w, Builtin::CONV_2D, Options::CONV_2D);  // the filter's depth implies the number of groups
}

void write_depthwise_conv_2d(OperationWriter& w) {
  write_convolution(w, Builtin::DEPTHWISE_CONV_2D, Options::DEPTHWISE_CONV_2D);
}

void write_transpose_conv_2d(OperationWriter& w) {
  w.refuse_nchw();
  Graph& graph = w.graph;
  const Dims in = w.operand_of("input")->dims, out = w.output_operand().dims;
  const Weighted of = weighted(w, "filter");
  const Window window = window_of(w, filter_size(w));
  const std::optional<Padding> scheme = transposed_scheme(window, in, out);
  const TensorId whole = scheme ? of.output : cut_tensor(graph, of, window, in);
  const int64_t activation = w.integer("activation");
  const TensorId sums = activation == 0 ? whole : graph.like(whole);
  const TensorId shape = graph.numbers(graph.dims_of(whole));
  Table options;
  options.set(0, static_cast<int8_t>(scheme.value_or(Padding::VALID)));
  options.set(1, static_cast<int32_t>(window.stride[1]));
  options.set(2, static_cast<int32_t>(window.stride[0]));
  graph.emit(Builtin::TRANSPOSE_CONV, {shape, of.filter, of.input, of.bias}, {sums}, Options::TRANSPOSE_CONV,
             std::move(options));
  if (sums != whole) graph.emit(activation_builtin(activation), {sums}, {whole});
  if (!scheme) {
    const TensorId begin =
        graph.ints({0, static_cast<int32_t>(window.before[0]), static_cast<int32_t>(window.before[1]), 0});
    const TensorId size = graph.numbers(graph.dims_of(of.output));
    graph.emit(Builtin::SLICE, {whole, begin, size}, {of.output}, Options::SLICE);
  }
  finish(graph, of);
}

// Reshapes an input whose last axis isn't as wide as the weights to a matrix: NNAPI and LiteRT's CPU flatten it, but
// LiteRT's GPU accelerator computes something else of it.
void write_fully_connected(OperationWriter& w) {
  Graph& graph = w.graph;
  Weighted of = weighted(w, "weights");
  const Dims in = graph.dims_of(of.input), rows = graph.dims_of(of.output), weights = graph.dims_of(of.filter);
  if (in.empty() || in.back() != weights[1]) of.input = graph.reshaped(of.input, {rows[0], weights[1]});
  graph.emit(Builtin::FULLY_CONNECTED, {of.input, of.filter, of.bias}, {of.output}, Options::FULLY_CONNECTED,
             w.activation_options(0, w.integer("activation")));
  finish(graph, of);
}

void write_batch_matmul(OperationWriter& w) {
  Graph& graph = w.graph;
  std::vector<TensorId> inputs{w.tensor("input1"), w.tensor("input2")};
  const TensorId output = w.output();
  if (graph.at(output).type == TensorType::INT32) {
    w.refuse("int32 matrices", "float32 or integers of 8 bits", "cast them to float32 in the model");
  }
  TensorId product = output;
  if (graph.at(output).type == TensorType::UINT8) {  // LiteRT has it for int8 only
    for (TensorId& each : inputs) {
      Tensor moved = graph.at(each);
      moved.type = TensorType::INT8;
      moved.zero_points[0] -= kSignedShift;
      each = graph.requantised(each, moved);
    }
    product = graph.like(output);
    graph.at(product).type = TensorType::INT8;
    graph.at(product).zero_points[0] -= kSignedShift;
  }
  Table options;
  options.set(0, w.flag("adjoint1"), false);
  options.set(1, w.flag("adjoint2"), false);
  graph.emit(Builtin::BATCH_MATMUL, inputs, {product}, Options::BATCH_MATMUL, std::move(options));
  if (product != output) graph.quantise_into(product, output);
}

}  // namespace nnapi_convert::litert
