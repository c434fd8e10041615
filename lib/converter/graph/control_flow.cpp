#include "lib/converter/graph/control_flow.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include "lib/converter/graph/runtime_numbers.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kTensors = "tensors and numbers";

Refusal refusal(const Node& node, const std::string& found, const std::string& needed, const std::string& hint = "") {
  return {source_of(node), node.kind().toQualString(), found, needed, hint};
}

std::string other_value(const Value* value) {
  return fmt::format("%{} of type {}", value->debugName(), value->type()->repr_str());
}

// Returns output `index` of a block, made a tensor if it is a constant number; null for other values.
Value* tensor_output(Block* block, size_t index) {
  Value* output = block->outputs()[index];
  torch::jit::WithInsertPoint at_end(block);
  Value* tensor = as_tensor(output);
  if (tensor != nullptr && tensor != output) block->replaceOutput(index, tensor);
  return tensor;
}

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.quantization == b.quantization;
}

void set_type(Value* value, const TensorType& type, TypeMap& types) {
  value->setType(c10::TensorType::get());
  types[value] = type;
}

// True for a tensor of dtype bool with one element.
bool is_condition(const Value* value, const TypeMap& types) {
  const auto type = tensor_type(value, types);
  return type && type->dtype == at::kBool && product(type->dims) == Dim(1);
}

std::optional<Refusal> type_outputs_of_if(Node* node, TypeMap& types) {
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    std::optional<TensorType> first;
    for (Block* block : node->blocks()) {
      const Value* output = tensor_output(block, i);
      const auto type = output == nullptr ? std::nullopt : tensor_type(output, types);
      if (!type) return refusal(*node, "a branch that gives " + other_value(block->outputs()[i]), kTensors);
      if (!first) first = type;
      if (same_type(*first, *type)) continue;
      return refusal(*node, fmt::format("branches that give {} and {}", to_text(*first), to_text(*type)),
                     "one type and shape", "make both branches give the same");
    }
    set_type(node->output(i), *first, types);
  }
  return std::nullopt;
}

std::optional<Refusal> begin_loop(Node* node, TypeMap& types) {
  const Value* rounds = node->input(0);
  if (!constant_rounds(*node) && rounds_of_size(*node, types) == nullptr) {
    const auto type = tensor_type(rounds, types);
    if (!type || c10::isFloatingType(type->dtype)) {
      return refusal(*node,
                     "a number of rounds %" + rounds->debugName() + " that comes neither from a size nor from a tensor",
                     "a number, a size, or a number taken from a tensor");
    }
  }
  Block* body = node->blocks()[0];
  set_type(body->inputs()[0], {at::kLong, {}, {}}, types);
  for (size_t i = kLoopInputs; i < node->inputs().size(); ++i) {
    torch::jit::WithInsertPoint before(node);
    Value* tensor = as_tensor(node->input(i));
    const auto type = tensor == nullptr ? std::nullopt : tensor_type(tensor, types);
    if (!type) return refusal(*node, "a loop that carries " + other_value(node->input(i)), kTensors);
    node->replaceInput(i, tensor);
    set_type(body->inputs()[i - kLoopInputs + kBodyInputs], *type, types);
  }
  return std::nullopt;
}

std::optional<Refusal> type_outputs_of_loop(Node* node, TypeMap& types) {
  Block* body = node->blocks()[0];
  for (const Value* condition : {node->input(1), body->outputs()[0]}) {
    if (!torch::jit::toIValue(condition) && !is_condition(condition, types)) {
      return refusal(*node, "a loop on " + other_value(condition), "a condition that is computed from tensors");
    }
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const TensorType before = *tensor_type(body->inputs()[i + kBodyInputs], types);
    const Value* output = tensor_output(body, i + kBodyOutputs);
    const auto after = output == nullptr ? std::nullopt : tensor_type(output, types);
    if (!after)
      return refusal(*node, "a loop that carries " + other_value(body->outputs()[i + kBodyOutputs]), kTensors);
    if (!same_type(before, *after)) {
      return refusal(*node, fmt::format("a loop that makes {} of {}", to_text(*after), to_text(before)),
                     "one type and shape in all rounds", "begin with the type and shape that a round gives");
    }
    set_type(node->output(i), before, types);
  }
  return std::nullopt;
}

}  // namespace

bool is_control_flow(const Node& node) {
  return node.kind() == c10::prim::If || node.kind() == c10::prim::Loop;
}

std::optional<TensorType> tensor_type(const Value* value, const TypeMap& types) {
  const auto found = types.find(value);
  if (found != types.end()) {
    const auto* type = std::get_if<TensorType>(&found->second);
    return type == nullptr ? std::nullopt : std::optional<TensorType>(*type);
  }
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !constant->isTensor() || !constant->toTensor().defined()) return std::nullopt;
  return OpArguments(*value->node(), types).type_of(value);
}

std::optional<Refusal> begin_control_flow(Node* node, TypeMap& types) {
  if (node->kind() == c10::prim::Loop) return begin_loop(node, types);
  if (is_condition(node->input(0), types)) return std::nullopt;
  return refusal(*node, "a branch on " + other_value(node->input(0)), "a condition that is computed from tensors");
}

std::optional<Refusal> end_control_flow(Node* node, TypeMap& types) {
  return node->kind() == c10::prim::Loop ? type_outputs_of_loop(node, types) : type_outputs_of_if(node, types);
}

std::optional<int64_t> constant_rounds(const Node& loop) {
  const auto rounds = torch::jit::toIValue(loop.input(0));
  if (!rounds) return std::nullopt;
  return rounds->isTensor() ? rounds->toTensor().item<int64_t>() : rounds->toInt();
}

const Dim* rounds_of_size(const Node& loop, const TypeMap& types) {
  const auto found = types.find(loop.input(0));
  const auto* sizes = found == types.end() ? nullptr : std::get_if<Dims>(&found->second);
  return sizes == nullptr || sizes->size() != 1 ? nullptr : &sizes->front();
}

bool has_unlimited_rounds(const Node& loop) {
  const auto rounds = constant_rounds(loop);
  return rounds && *rounds > INT32_MAX;
}

}  // namespace nnapi_convert
