// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/element_writes.h"

#include <algorithm>
#include <vector>

#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

bool any_may_be_written(const Node& node) {
  const auto outputs = node.outputs();
  return std::any_of(outputs.begin(), outputs.end(), [](const Value* output) { return may_be_written(*output); });
}

bool may_be_written_by(const Use& use) {
  const Node& user = *use.user;
  if (user.kind() == c10::prim::Return) return user.owningBlock()->owningNode() != nullptr;
  if (hands_on(user)) return any_may_be_written(user);
  const c10::FunctionSchema* schema = user.maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return true;
  const auto* alias = schema->arguments()[use.offset].alias_info();
  if (alias == nullptr) return false;
  // A node that changes another argument may put the tensor there (aten::append), where the tensor's uses don't tell of
  // it.
  return alias->isWrite() || schema->is_mutable() || any_may_be_written(user);
}

}  // namespace

bool may_be_written(const Value& tensor) {
  const auto& uses = tensor.uses();
  return std::any_of(uses.begin(), uses.end(), may_be_written_by);
}

void separate_glue(Graph& graph) {
  std::vector<Node*> containers;
  for_each_node(graph, [&](Node& node) {
    if (is_glue(node)) containers.push_back(&node);
  });
  // An outer container stands after the inner containers that it holds. Outer containers are copied first, as each copy
  // is a new reader of the inner containers.
  for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
    Node* node = *container;
    const std::vector<Use> uses = node->output()->uses();
    for (const Use& use : uses) {
      if (uses.size() == 1 && use.user->owningBlock() == node->owningBlock()) {
        node->moveBefore(use.user);
        continue;
      }
      Node* copy = graph.createClone(node, [](Value* value) { return value; });
      copy->insertBefore(use.user);
      use.user->replaceInput(use.offset, copy->output());
    }
  }
}

}  // namespace nnapi_convert
