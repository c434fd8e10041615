// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lib/format/buffer_format.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert {
namespace {

std::string numbers_text(const Dims& numbers, bool is_scalar) {
  if (is_scalar && numbers.size() == 1) return numbers[0].text();
  std::string text;
  for (size_t i = 0; i < numbers.size() && i < kShortList; ++i) text += (i == 0 ? "" : ", ") + numbers[i].text();
  return "[" + text + (numbers.size() > kShortList ? ", ...]" : "]");
}

struct ConstantText {
  bool is_scalar;
  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const nnapi::Omitted&) const { return "left out"; }
  std::string operator()(const Dims& numbers) const { return numbers_text(numbers, is_scalar); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const nnapi::Constant&) const { return ""; }
  std::string operator()(const nnapi::Subgraph&) const { return "a subgraph"; }
};

GraphValue value_of(const nnapi::Operand& operand, int32_t id) {
  GraphValue value{operand.name, name_of(operand.type)};
  if (nnapi::is_tensor(operand.type)) value.shape = operand.dims;
  value.is_nhwc = operand.is_nhwc;
  value.scale = operand.scale;
  value.zero_point = operand.zero_point;
  if (operand.channels != nullptr) {
    value.channel_scales = operand.channels->scales.size();
    value.channel_axis = operand.channels->axis;
  }
  value.is_constant = operand.is_constant();
  value.constant = std::visit(ConstantText{!nnapi::is_tensor(operand.type)}, operand.value);
  value.id = id;
  return value;
}

std::vector<std::string> argument_names(const nnapi::Model& model, const nnapi::Operation& operation) {
  std::vector<std::string> names;
  const nnapi::SignatureMatch match = nnapi::match_signature(model, operation);
  if (match.signature == nullptr) return names;
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    names.emplace_back(nnapi::argument_of_input(*match.signature, i, operation.inputs.size()).name);
  }
  return names;
}

template <typename Id>
std::vector<size_t> shifted(const std::vector<Id>& ids, size_t first) {
  std::vector<size_t> numbers;
  for (const Id id : ids) numbers.push_back(first + static_cast<size_t>(id));
  return numbers;
}

std::vector<size_t> range(size_t first, size_t last) {
  std::vector<size_t> numbers;
  for (size_t number = first; number < last; ++number) numbers.push_back(number);
  return numbers;
}

// Returns the number or short list of numbers in `bytes` as text; empty for others.
std::string immediate_text(const BufferOperand& operand, const std::vector<uint8_t>& bytes) {
  const auto type = static_cast<OperandCode>(operand.type);
  if (type == OperandCode::BOOL && bytes.size() == 1) return bytes[0] != 0 ? "true" : "false";
  if (type == OperandCode::FLOAT32 && bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return fmt::format("{}", value);
  }
  if (type != OperandCode::INT32 && type != OperandCode::TENSOR_INT32) return "";
  if (bytes.empty() || bytes.size() % sizeof(int32_t) != 0) return "";
  Dims numbers;
  for (size_t i = 0; i < bytes.size(); i += sizeof(int32_t)) {
    int32_t number = 0;
    std::memcpy(&number, bytes.data() + i, sizeof number);
    numbers.emplace_back(number);
  }
  return numbers_text(numbers, type == OperandCode::INT32);
}

GraphValue value_of(const BufferOperand& operand, int32_t id) {
  GraphValue value{"", name_of(static_cast<OperandCode>(operand.type)), Dims()};
  bool is_known = true;
  for (const uint32_t dim : operand.dims) {
    is_known = is_known && dim != 0;
    value.shape->emplace_back(static_cast<int64_t>(dim));
  }
  if (!is_known || !nnapi::is_tensor(static_cast<OperandCode>(operand.type))) value.shape.reset();
  value.scale = operand.scale;
  value.zero_point = operand.zero_point;
  value.channel_scales = operand.channel_scales.size();
  value.channel_axis = operand.channel_scales.empty() ? 0 : static_cast<size_t>(operand.channel_axis);
  value.id = id;
  return value;
}

void append_step(ModelGraph& graph, const BufferModel& model, int segment, int subgraph, size_t first) {
  for (size_t i = 0; i < model.operands.size(); ++i) {
    graph.values.push_back(value_of(model.operands[i], static_cast<int32_t>(i)));
  }
  for (const BufferValue& value : model.values) {
    GraphValue& shown = graph.values[first + static_cast<size_t>(value.operand)];
    shown.is_constant = true;
    shown.constant = immediate_text(model.operands[static_cast<size_t>(value.operand)], value.bytes);
  }
  GraphStep step{segment, subgraph, {}};
  for (const BufferOperation& operation : model.operations) {
    step.nodes.push_back({name_of(static_cast<OperationCode>(operation.code)), "", shifted(operation.inputs, first),
                          shifted(operation.outputs, first)});
  }
  graph.steps.push_back(std::move(step));
}

}  // namespace

std::vector<size_t> append(ModelGraph& graph, const nnapi::Model& model, int segment) {
  std::vector<size_t> operands;
  int subgraph = 0;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    const size_t first = graph.values.size();
    for (size_t i = 0; i < each->operands.size(); ++i) {
      graph.values.push_back(value_of(each->operands[i], static_cast<int32_t>(i)));
    }
    GraphStep step{segment, subgraph++, {}};
    for (const nnapi::Operation& operation : each->operations) {
      GraphNode node{name_of(operation.code), operation.source, shifted(operation.inputs, first),
                     shifted(operation.outputs, first)};
      node.arguments = argument_names(*each, operation);
      const Count macs = nnapi::multiply_adds(*each, operation);
      if (macs.value_or(0) > 0) node.macs = macs.value();
      step.nodes.push_back(std::move(node));
    }
    graph.steps.push_back(std::move(step));
    if (each == &model) operands = range(first, graph.values.size());
  }
  return operands;
}

std::vector<size_t> append(ModelGraph& graph, const BufferModel& model, int segment) {
  const size_t first = graph.values.size();
  append_step(graph, model, segment, 0, first);
  const std::vector<size_t> operands = range(first, graph.values.size());
  for (size_t i = 0; i < model.subgraphs.size(); ++i) {
    append_step(graph, model.subgraphs[i], segment, static_cast<int>(i) + 1, graph.values.size());
  }
  return operands;
}

size_t append(ModelGraph& graph, const std::string& name, const TensorType& type) {
  GraphValue value{name, dtype_name(type.dtype), type.dims};
  if (type.is_quantized()) {
    value.scale = type.quantization.scale;
    value.zero_point = type.quantization.zero_point;
  }
  graph.values.push_back(std::move(value));
  return graph.values.size() - 1;
}

ModelGraph graph_of(const nnapi::Model& model, const ModuleInterface& interface) {
  ModelGraph graph;
  for (const InterfaceInput& input : interface.inputs) graph.inputs.push_back(append(graph, input.name, input.type));
  const std::vector<size_t> operands = append(graph, model, 0);
  for (const nnapi::Boundary& input : model.inputs) {
    graph.steps[0].inputs.push_back({graph.inputs[input.argument], operands[static_cast<size_t>(input.operand)]});
  }
  for (const nnapi::Boundary& output : model.outputs) {
    const size_t operand = operands[static_cast<size_t>(output.operand)];
    graph.steps[0].outputs.push_back({operand, operand});
    graph.outputs.push_back(operand);
  }
  return graph;
}

std::vector<BlockPlace> places_of_segment(const ModelGraph& graph, size_t segment) {
  std::vector<BlockPlace> places;
  const auto step = std::find_if(graph.steps.begin(), graph.steps.end(),
                                 [&](const GraphStep& each) { return each.segment == static_cast<int>(segment); });
  if (step == graph.steps.end()) return places;
  for (int at = step->block; at >= 0; at = graph.blocks[static_cast<size_t>(at)].parent) {
    places.insert(places.begin(), graph.blocks[static_cast<size_t>(at)].place);
  }
  return places;
}

}  // namespace nnapi_convert
