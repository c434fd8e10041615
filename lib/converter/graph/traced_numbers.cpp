// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/traced_numbers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the value of a node that is a constant tensor of rank 0; nothing for other nodes.
std::optional<at::Tensor> single_constant(const Node& node) {
  const bool is_tensor = node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
                         node.kindOf(c10::attr::value) == torch::jit::AttributeKind::t;
  if (!is_tensor || node.t(c10::attr::value).dim() != 0) return std::nullopt;
  return node.t(c10::attr::value);
}

// True for a constant that the traced code itself has. Its type states no dtype; that of a frozen attribute does.
bool is_of_code(const Node& node) {
  const auto type = node.output()->type()->cast<c10::TensorType>();
  return type != nullptr && !type->scalarType().has_value();
}

// True for a constant from torch.tensor(0.5) in traced code: PyTorch copies such a tensor; it doesn't copy numbers.
bool is_copied(const Node& node) {
  static const std::set<std::string> copies = {"aten::to",         "aten::detach",          "aten::clone",
                                               "aten::lift_fresh", "aten::lift_fresh_copy", "aten::lift"};
  const auto& uses = node.output()->uses();
  return std::any_of(uses.begin(), uses.end(),
                     [](const torch::jit::Use& use) { return copies.count(use.user->kind().toQualString()) != 0; });
}

// True for the dtypes that a Python number has in type promotion. Operators lack overloads for bools.
bool promotes_like_number(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kLong;
}

// Replaces the node's input `index` by the number if the operator has an overload for that.
void give_number(Node& node, size_t index, Value* number) {
  Value* tensor = node.input(index);
  node.replaceInput(index, number);
  if (node.maybeOperator() == nullptr) node.replaceInput(index, tensor);
}

}  // namespace

void mark_numbers(Graph& graph) {
  for_each_node(graph, [](Node& node) {
    const std::optional<at::Tensor> constant = single_constant(node);
    if (!constant || !is_of_code(node) || is_copied(node)) return;
    if (constant->scalar_type() != at::kDouble && constant->scalar_type() != at::kLong) return;
    at::Tensor number = constant->clone();
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    node.t_(c10::attr::value, std::move(number));
  });
}

void use_scalars(Graph& graph) {
  std::vector<Node*> constants;
  for_each_node(graph, [&](Node& node) {
    const std::optional<at::Tensor> constant = single_constant(node);
    if (constant && constant->unsafeGetTensorImpl()->is_wrapped_number()) constants.push_back(&node);
  });
  for (Node* node : constants) {
    const torch::jit::WithInsertPoint at_node(node);
    Value* number = graph.insertConstant(single_constant(*node)->item());
    const torch::jit::use_list uses = node->output()->uses();  // a copy: give_number() changes the list of uses
    for (const torch::jit::Use& use : uses) give_number(*use.user, use.offset, number);
    if (!number->hasUses()) number->node()->destroy();
  }
}

void keep_single_tensors(Graph& graph) {
  std::vector<Node*> constants;
  for_each_node(graph, [&](Node& node) {
    const std::optional<at::Tensor> constant = single_constant(node);
    const bool is_number = constant && constant->unsafeGetTensorImpl()->is_wrapped_number();
    if (constant && !is_number && !promotes_like_number(constant->scalar_type())) constants.push_back(&node);
  });
  for (Node* node : constants) {
    Node* copy = graph.create(c10::aten::detach, {node->output()});
    copy->insertAfter(node);
    copy->output()->setType(node->output()->type());
    node->output()->replaceAllUsesAfterNodeWith(copy, copy->output());
  }
}

}  // namespace nnapi_convert
