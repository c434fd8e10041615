// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/rank_0.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

std::optional<size_t> rank_of(const Value& value, const TypeMap& types) {
  if (const auto constant = torch::jit::toIValue(&value)) {
    return constant->isTensor() ? std::optional<size_t>(constant->toTensor().dim()) : std::nullopt;
  }
  const TensorType* type = tensor_type_of(&value, types);
  return type == nullptr ? std::nullopt : std::optional<size_t>(type->rank());
}

// Returns the numbers of the inputs that need an axis; empty if a tensor other than an index has another rank than 0.
std::vector<size_t> inputs_without_axis(const Node& node, const TypeMap& types) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || !find_traits(node).has(Fact::kKeepsRankAlongAxis)) return {};
  const bool is_shaped_by_index = schema->name() == "aten::gather";
  std::vector<size_t> inputs;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const std::string& name = schema->arguments().at(i).name();
    const bool is_tensor = schema->arguments()[i].type()->kind() == c10::TypeKind::TensorType;
    if (!is_tensor || name == "value") continue;
    const auto rank = rank_of(*node.input(i), types);
    if (name == "index" && !is_shaped_by_index && rank == size_t{1}) continue;
    if (rank != size_t{0}) return {};
    inputs.push_back(i);
  }
  return inputs;
}

Value* inserted(Node& node, const char* name, Value* tensor, const c10::IValue& argument) {
  torch::jit::Graph& graph = *node.owningGraph();
  Value* result = graph.insert(c10::Symbol::aten(name), {tensor, argument});
  result->node()->setSourceRange(node.sourceRange());
  result->node()->setScope(node.scope());
  return result;
}

}  // namespace

std::vector<TorchValue*> with_axis(TorchNode& node, const TypeMap& types) {
  const std::vector<size_t> inputs = inputs_without_axis(node, types);
  if (inputs.empty()) return {};
  torch::jit::WithInsertPoint here(&node);
  torch::jit::Graph& graph = *node.owningGraph();
  Node* copy = graph.createClone(&node, [](Value* value) { return value; });
  for (const size_t i : inputs) copy->replaceInput(i, inserted(node, "unsqueeze", node.input(i), 0));
  graph.insertNode(copy);
  std::vector<Value*> results;
  for (Value* output : copy->outputs()) results.push_back(inserted(node, "reshape", output, std::vector<int64_t>()));
  return results;
}

}  // namespace nnapi_convert
