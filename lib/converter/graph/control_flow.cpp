// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/control_flow.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <array>

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

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.quantization == b.quantization;
}

// True for a tensor of dtype bool with one element.
bool is_condition(const Value* value, const TypeMap& types) {
  const auto type = tensor_type(value, types);
  return type && type->dtype == at::kBool && product(type->dims) == Dim(1);
}

std::optional<Refusal> type_outputs_of_if(const Node& node, TypeMap& types) {
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    std::optional<TensorType> first;
    for (const Block* block : node.blocks()) {
      const auto type = tensor_type(block->outputs()[i], types);
      if (!type) return refusal(node, "a branch that gives " + other_value(block->outputs()[i]), kTensors);
      if (!first) first = type;
      if (same_type(*first, *type)) continue;
      return refusal(node, fmt::format("branches that give {} and {}", to_text(*first), to_text(*type)),
                     "one type and shape", "make both branches give the same");
    }
    types[node.output(i)] = *first;
  }
  return std::nullopt;
}

std::optional<Refusal> begin_loop(const Node& node, TypeMap& types) {
  const Value* rounds = node.input(0);
  if (!constant_rounds(node) && rounds_of_size(node, types) == nullptr) {
    const auto type = tensor_type(rounds, types);
    if (!type || c10::isFloatingType(type->dtype)) {
      return refusal(node,
                     "a number of rounds %" + rounds->debugName() + " that comes neither from a size nor from a tensor",
                     "a number, a size, or a number taken from a tensor");
    }
  }
  const Block* body = node.blocks()[0];
  types[body->inputs()[0]] = TensorType{at::kLong, {}, {}};
  for (size_t i = kLoopInputs; i < node.inputs().size(); ++i) {
    const auto type = tensor_type(node.input(i), types);
    if (!type) return refusal(node, "a loop that carries " + other_value(node.input(i)), kTensors);
    types[body->inputs()[i - kLoopInputs + kBodyInputs]] = *type;
  }
  return std::nullopt;
}

bool is_always_true(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isBool() && constant->toBool();
}

std::optional<Refusal> type_outputs_of_loop(const Node& node, TypeMap& types) {
  const Block* body = node.blocks()[0];
  if (has_unlimited_rounds(node) && is_always_true(node.input(1)) && is_always_true(body->outputs()[0])) {
    return refusal(node, "a loop that never ends", "a condition that becomes false, or a number of rounds");
  }
  const std::array<const Value*, 2> conditions = {node.input(1), body->outputs()[0]};
  for (const Value* condition : conditions) {
    if (!torch::jit::toIValue(condition) && !is_condition(condition, types)) {
      return refusal(node, "a loop on " + other_value(condition), "a condition that is computed from tensors");
    }
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const TensorType before = *tensor_type(body->inputs()[i + kBodyInputs], types);
    const Value* output = body->outputs()[i + kBodyOutputs];
    const auto after = tensor_type(output, types);
    if (!after) return refusal(node, "a loop that carries " + other_value(output), kTensors);
    if (!same_type(before, *after)) {
      return refusal(node, fmt::format("a loop that makes {} of {}", to_text(*after), to_text(before)),
                     "one type and shape in all rounds", "begin with the type and shape that a round gives");
    }
    types[node.output(i)] = before;
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

bool carry_tensors(Node& loop) {
  Block* body = loop.blocks()[0];
  body->inputs()[0]->setType(c10::TensorType::get());
  const torch::jit::WithInsertPoint before(&loop);
  bool any = false;
  for (size_t i = kLoopInputs; i < loop.inputs().size(); ++i) {
    Value* tensor = as_tensor(loop.input(i));
    if (tensor == nullptr) continue;
    any = any || tensor != loop.input(i);
    loop.replaceInput(i, tensor);
    body->inputs()[i - kLoopInputs + kBodyInputs]->setType(c10::TensorType::get());
  }
  return any;
}

bool give_tensors(Node& node) {
  const size_t first = node.kind() == c10::prim::Loop ? kBodyOutputs : 0;
  bool any = false;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    bool all_tensors = true;
    for (Block* block : node.blocks()) {
      const torch::jit::WithInsertPoint at_end(block);
      Value* tensor = as_tensor(block->outputs()[first + i]);
      all_tensors = all_tensors && tensor != nullptr;
      if (tensor == nullptr || tensor == block->outputs()[first + i]) continue;
      block->replaceOutput(first + i, tensor);
      any = true;
    }
    if (all_tensors) node.output(i)->setType(c10::TensorType::get());
  }
  return any;
}

std::optional<Refusal> begin_control_flow(const Node& node, TypeMap& types) {
  if (node.kind() == c10::prim::Loop) return begin_loop(node, types);
  if (is_condition(node.input(0), types)) return std::nullopt;
  return refusal(node, "a branch on " + other_value(node.input(0)), "a condition that is computed from tensors");
}

std::optional<Refusal> end_control_flow(const Node& node, TypeMap& types) {
  return node.kind() == c10::prim::Loop ? type_outputs_of_loop(node, types) : type_outputs_of_if(node, types);
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
