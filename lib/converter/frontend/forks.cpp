// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/forks.h"

#include <algorithm>
#include <vector>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool holds_future(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::FutureType) return true;
  if (type->kind() == c10::TypeKind::ClassType) return false;
  const auto contained = type->containedTypes();
  return std::any_of(contained.begin(), contained.end(), holds_future);
}

bool hands_on_future(Graph& graph) {
  const auto outputs = graph.outputs();
  bool hands_on =
      std::any_of(outputs.begin(), outputs.end(), [](const Value* value) { return holds_future(value->type()); });
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == c10::prim::SetAttr || node.kind() == c10::prim::GetAttr) {
      const Value* value = node.kind() == c10::prim::SetAttr ? node.input(1) : node.output();
      hands_on = hands_on || holds_future(value->type());
    }
  });
  return hands_on;
}

// Returns the type with the type of its result in the place of each Future.
c10::TypePtr awaited(const c10::TypePtr& type) {
  if (const auto future = type->cast<c10::FutureType>()) return awaited(future->getElementType());
  if (!holds_future(type)) return type;
  std::vector<c10::TypePtr> contained;
  for (const c10::TypePtr& part : type->containedTypes()) contained.push_back(awaited(part));
  return type->withContained(std::move(contained));
}

void run_in_place(Node* fork) {
  Graph& graph = *fork->owningGraph();
  const torch::jit::WithInsertPoint here(fork);
  const std::vector<Value*> results = torch::jit::insertGraph(graph, *fork->g(c10::attr::Subgraph), fork->inputs());
  fork->output()->replaceAllUsesWith(results.at(0));
  fork->destroy();
}

std::vector<Node*> nodes_of_kind(Graph& graph, c10::Symbol kind) {
  std::vector<Node*> nodes;
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == kind) nodes.push_back(&node);
  });
  return nodes;
}

}  // namespace

bool run_forks_in_place(Graph& graph) {
  const std::vector<Node*> forks = nodes_of_kind(graph, c10::prim::fork);
  if (forks.empty() || hands_on_future(graph)) return false;
  for (Node* fork : forks) run_in_place(fork);
  graph.remapTypes(awaited);
  for (Node* wait : nodes_of_kind(graph, c10::aten::wait)) {
    if (wait->inputs().size() != 1) continue;
    wait->output()->replaceAllUsesWith(wait->input());
    wait->destroy();
  }
  return true;
}

}  // namespace nnapi_convert
