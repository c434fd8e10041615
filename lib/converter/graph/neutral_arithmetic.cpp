// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/neutral_arithmetic.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <unordered_set>
#include <vector>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Returns the number that the node computes a tensor with, if it is a constant whole number or float.
c10::optional<c10::IValue> number_of(const Node& node) {
  if (node.inputs().size() < 2 || node.input(0)->type()->kind() != c10::TypeKind::TensorType) return c10::nullopt;
  const auto number = torch::jit::toIValue(node.input(1));
  return number && (number->isInt() || number->isDouble()) ? number : c10::nullopt;
}

bool equals(const c10::IValue& number, int64_t wanted) {
  return number.isInt() ? number.toInt() == wanted : number.toDouble() == static_cast<double>(wanted);
}

bool is_neutral(const Node& node) {
  const auto number = number_of(node);
  if (!number) return false;
  if (node.kind() == c10::aten::mul || (node.kind() == c10::aten::div && node.inputs().size() == 2)) {
    return equals(*number, 1);
  }
  return (node.kind() == c10::aten::add || node.kind() == c10::aten::sub) && equals(*number, 0);
}

void keep_in(torch::jit::Graph& graph) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    if (is_neutral(node)) nodes.push_back(&node);
  });
  for (Node* node : nodes) {
    const torch::jit::WithInsertPoint here(node);
    const bool is_float = node->kind() == c10::aten::div || number_of(*node)->isDouble();
    const c10::IValue zero = is_float ? c10::IValue(0.0) : c10::IValue(0);
    Node* sum = graph.insertNode(graph.create(
        c10::aten::add, {node->input(0), graph.insertConstant(zero), graph.insertConstant(c10::IValue(2))}));
    sum->copyMetadata(node);
    sum->output()->setType(node->output()->type());
    node->output()->replaceAllUsesWith(sum->output());
    node->destroy();
  }
}

using Functions = std::unordered_set<const torch::jit::Function*>;

void keep_in(torch::jit::Function& function, Functions& done) {
  if (!function.isGraphFunction() || !done.insert(&function).second) return;
  torch::jit::Graph& graph = *torch::jit::toGraphFunction(function).graph();
  keep_in(graph);
  for_each_node(graph, [&](const Node& node) {
    if (node.kind() != c10::prim::CallFunction) return;
    if (const auto type = node.input(0)->type()->cast<c10::FunctionType>()) keep_in(*type->function(), done);
  });
}

}  // namespace

void keep_neutral_arithmetic(const torch::jit::Module& module) {
  Functions done;  // modules of one class share their methods
  for (const torch::jit::Module& each : module.modules()) {
    for (const torch::jit::Method& method : each.get_methods()) keep_in(method.function(), done);
  }
}

Value* neutral_result(Node* node, const TypeMap& types) {
  if (node->kind() != c10::aten::add || !is_neutral(*node)) return nullptr;
  const TensorType* type = tensor_type_of(node->input(0), types);
  if (type == nullptr || type->is_quantized()) return nullptr;
  at::ScalarType dtype = type->dtype;
  if (number_of(*node)->isDouble() && c10::isIntegralType(dtype, true)) dtype = at::kFloat;
  if (number_of(*node)->isInt() && dtype == at::kBool) dtype = at::kLong;
  if (dtype == type->dtype) return node->input(0);
  const torch::jit::WithInsertPoint here(node);
  Value* cast = node->owningGraph()->insert(c10::aten::to, {node->input(0), static_cast<int64_t>(dtype)});
  cast->node()->setSourceRange(node->sourceRange());
  return cast;
}

}  // namespace nnapi_convert
