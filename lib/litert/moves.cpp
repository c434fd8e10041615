// SPDX-License-Identifier: BSD-3-Clause
// Operations that move elements and change none.
#include <algorithm>
#include <numeric>

#include "lib/litert/operations.h"

namespace nnapi_convert::litert {
namespace {

// Returns the tensor that CAST reads: NNAPI casts the raw uint8 numbers of a quantised tensor.
TensorId raw_numbers(Graph& graph, TensorId id, OperandCode type) {
  if (type != OperandCode::TENSOR_QUANT8_ASYMM || graph.at(id).type == TensorType::UINT8) return id;
  Tensor raw = graph.at(id);
  raw.type = TensorType::UINT8;
  raw.zero_points[0] += kSignedShift;
  return graph.requantised(id, raw);
}

std::vector<int32_t> numbers_from(int32_t first, size_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

void write_reshape(OperationWriter& w) {
  const TensorId input = w.input(0), output = w.output();
  w.graph.reshape_into(input, output);
}

void write_transpose(OperationWriter& w) {
  const TensorId input = w.tensor("input"), output = w.output();
  const size_t rank = w.operand_of("input")->dims.size();
  std::vector<int32_t> perm = numbers_from(0, rank);
  std::reverse(perm.begin(), perm.end());
  if (w.has("perm")) perm = w.integers("perm");
  w.graph.transpose_into(input, output, perm);
}

void write_concatenation(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId output = w.output();
  const size_t rank = w.output_operand().dims.size();
  std::vector<TensorId> inputs;
  for (size_t i = 0; i + 1 < w.operation.inputs.size(); ++i) {
    const TensorId input = w.input(i);
    // int8 needs equal scales; uint8 rescales itself.
    inputs.push_back(graph.at(output).type == TensorType::INT8 ? graph.requantised(input, output) : input);
  }
  Table options;
  options.set(0, w.axis("axis", rank));
  graph.emit(Builtin::CONCATENATION, std::move(inputs), {output}, Options::CONCATENATION, std::move(options));
}

void write_split(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input");
  const TensorId axis = graph.scalar_int(w.axis("axis", w.operand_of("input")->dims.size()));
  std::vector<TensorId> outputs;
  for (size_t i = 0; i < w.operation.outputs.size(); ++i) outputs.push_back(w.output(i));
  Table options;
  options.set(0, static_cast<int32_t>(outputs.size()));
  graph.emit(Builtin::SPLIT, {axis, input}, std::move(outputs), Options::SPLIT, std::move(options));
}

void write_strided_slice(OperationWriter& w) {
  Graph& graph = w.graph;
  std::vector<TensorId> inputs{w.tensor("input"), w.tensor("begin"), w.tensor("end"), w.tensor("strides")};
  const TensorId output = w.output();
  const auto shrinks = static_cast<int32_t>(w.integer("shrink_axis_mask"));
  Table options;
  options.set(0, static_cast<int32_t>(w.integer("begin_mask")));
  options.set(1, static_cast<int32_t>(w.integer("end_mask")));
  options.set(4, shrinks);
  const size_t rank = w.operand_of("input")->dims.size();
  const bool drops_all = shrinks == (1 << rank) - 1;  // NNAPI keeps one axis then
  const TensorId result = drops_all ? graph.like(output, {}) : output;
  graph.emit(Builtin::STRIDED_SLICE, std::move(inputs), {result}, Options::STRIDED_SLICE, std::move(options));
  if (drops_all) graph.reshape_into(result, output);
}

void write_gather(OperationWriter& w) {
  const TensorId input = w.tensor("input"), indices = w.tensor("indices"), output = w.output();
  Table options;
  options.set(0, w.axis("axis", w.operand_of("input")->dims.size()));
  w.graph.emit(Builtin::GATHER, {input, indices}, {output}, Options::GATHER, std::move(options));
}

void write_select(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId condition = w.tensor("condition"), output = w.output();
  TensorId first = w.tensor("input1"), second = w.tensor("input2");
  if (graph.at(output).is_quantised()) {
    first = graph.requantised(first, output);
    second = graph.requantised(second, output);
  }
  const bool is_equal =
      graph.dims_of(condition) == graph.dims_of(first) && graph.dims_of(first) == graph.dims_of(second);
  graph.emit(is_equal ? Builtin::SELECT : Builtin::SELECT_V2, {condition, first, second}, {output},
             is_equal ? Options::SELECT : Options::SELECT_V2);
}

void write_cast(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = raw_numbers(graph, w.tensor("input"), w.operand_of("input")->type);
  const TensorId output = w.output();
  TensorId result = output;
  if (w.output_operand().type == OperandCode::TENSOR_QUANT8_ASYMM && graph.at(output).type != TensorType::UINT8) {
    result = graph.like(output);
    graph.at(result).type = TensorType::UINT8;
    graph.at(result).zero_points[0] += kSignedShift;
  }
  Table options;
  options.set(0, static_cast<int8_t>(graph.at(input).type));
  options.set(1, static_cast<int8_t>(graph.at(result).type));
  graph.emit(Builtin::CAST, {input}, {result}, Options::CAST, std::move(options));
  if (result != output) graph.quantise_into(result, output);
}

// CHANNEL_SHUFFLE: transposes the channels as a matrix [groups, channels of a group]. The axes before the channels are
// joined to one, and so are those behind.
void write_channel_shuffle(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const Dims& dims = w.operand_of("input")->dims;
  const auto axis = static_cast<size_t>(w.axis("axis", dims.size()));
  const int64_t groups = w.integer("groups");
  if (!dims[axis].is_fixed()) w.refuse("an open number of channels", "a known one", "fix the sizes by --input");
  const auto at_axis = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const Dim before = product(Dims(dims.begin(), at_axis)), after = product(Dims(at_axis + 1, dims.end()));
  const Dim per_group = dims[axis].value() / groups;
  const TensorId matrix = graph.reshaped(input, {before, groups, per_group, after});
  const TensorId turned = graph.transposed(matrix, {0, 2, 1, 3});
  graph.reshape_into(turned, output);
}

void write_fill(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId dims = w.tensor("dimensions"), value = w.tensor("value"), output = w.output();
  graph.emit(Builtin::FILL, {dims, value}, {output}, Options::FILL);
}

void write_pack(OperationWriter& w) {
  const TensorId output = w.output();
  std::vector<TensorId> inputs;
  for (size_t i = 1; i < w.operation.inputs.size(); ++i) inputs.push_back(w.input(i));
  Table options;
  options.set(0, static_cast<int32_t>(inputs.size()));
  options.set(1, w.axis("axis", w.output_operand().dims.size()));
  w.graph.emit(Builtin::PACK, std::move(inputs), {output}, Options::PACK, std::move(options));
}

void write_mirror_pad(OperationWriter& w) {
  const TensorId input = w.tensor("input"), paddings = w.tensor("paddings"), output = w.output();
  Table options;
  options.set(0, static_cast<int8_t>(w.integer("mode")));
  w.graph.emit(Builtin::MIRROR_PAD, {input, paddings}, {output}, Options::MIRROR_PAD, std::move(options));
}

void write_reverse(OperationWriter& w) {
  const TensorId input = w.tensor("input"), axis = w.tensor("axis"), output = w.output();
  w.graph.emit(Builtin::REVERSE_V2, {input, axis}, {output}, Options::REVERSE_V2);
}

void write_topk(OperationWriter& w) {
  const TensorId input = w.tensor("input"), values = w.output(0), indices = w.output(1);
  const TensorId k = w.graph.scalar_int(static_cast<int32_t>(w.integer("k")));
  w.graph.emit(Builtin::TOPK_V2, {input, k}, {values, indices}, Options::TOPK_V2);
}

// DEPTH_TO_SPACE and SPACE_TO_DEPTH.
void write_block(OperationWriter& w) {
  w.refuse_nchw();
  const OperationRow& row = *find_row(w.operation.code);
  const TensorId input = w.tensor("input"), output = w.output();
  Table options;
  options.set(0, static_cast<int32_t>(w.integer("block_size")));
  w.graph.emit(row.builtin, {input}, {output}, row.options, std::move(options));
}

void write_batch_to_space(OperationWriter& w) {
  w.refuse_nchw();
  const TensorId input = w.tensor("input"), block = w.tensor("block_shape"), output = w.output();
  const TensorId crops = w.graph.ints({0, 0, 0, 0}, {2, 2});
  w.graph.emit(Builtin::BATCH_TO_SPACE_ND, {input, block, crops}, {output}, Options::BATCH_TO_SPACE_ND);
}

void write_space_to_batch(OperationWriter& w) {
  w.refuse_nchw();
  const TensorId input = w.tensor("input"), block = w.tensor("block_shape"), paddings = w.tensor("paddings");
  const TensorId output = w.output();
  w.graph.emit(Builtin::SPACE_TO_BATCH_ND, {input, block, paddings}, {output}, Options::SPACE_TO_BATCH_ND);
}

}  // namespace nnapi_convert::litert
