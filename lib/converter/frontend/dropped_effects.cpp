// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/dropped_effects.h"

#include <unordered_set>
#include <vector>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

// Follows a value back to the values that it is computed from.
class Origins {
 public:
  bool depend_on_values(const Value* value) {
    const Node& node = *value->node();
    if (value->type()->kind() == c10::TypeKind::TensorType) return false;  // its values are not read on this way
    if (node.kind() == c10::prim::Constant || !seen_.insert(&node).second) return false;
    if (reads_values(node)) return true;
    for (const Value* input : node.inputs()) {
      if (is_condition(node, input) || depend_on_values(input)) return true;
    }
    for (const Block* block : node.blocks()) {
      for (const Value* output : block->outputs()) {
        if (depend_on_values(output)) return true;
      }
    }
    return false;
  }

 private:
  // True for a tensor that is a branch's condition itself, as LibTorch may simplify conditions.
  static bool is_condition(const Node& node, const Value* input) {
    return node.kind() == c10::prim::If && input->type()->kind() == c10::TypeKind::TensorType;
  }

  std::unordered_set<const Node*> seen_;
};

// Returns the values that decide whether, or how often, the blocks of a node run.
std::vector<const Value*> conditions_of(const Node& node) {
  if (node.kind() == c10::prim::If) return {node.input(0)};
  if (node.kind() != c10::prim::Loop) return {};
  return {node.input(0), node.input(1), node.blocks()[0]->outputs()[0]};
}

// True if it depends on values whether the node runs.
bool runs_by_values(const Node& node) {
  for (const Node* outer = node.owningBlock()->owningNode(); outer != nullptr;
       outer = outer->owningBlock()->owningNode()) {
    for (const Value* condition : conditions_of(*outer)) {
      const bool is_tensor = condition->type()->kind() == c10::TypeKind::TensorType;
      if (is_tensor || Origins().depend_on_values(condition)) return true;
    }
  }
  return false;
}

}  // namespace

void warn_of_dropped_effects(torch::jit::Graph& graph, Diagnostics& diagnostics) {
  for_each_node(graph, [&](const Node& node) {
    if (node.kind() == c10::prim::RaiseException && runs_by_values(node)) {
      diagnostics.warn(
          {"whether the original raises this error depends on the values of tensors; the converted model doesn't",
           source_of(node), "", "", 0});
    } else if (node.kind() == c10::prim::Print) {
      diagnostics.warn({"the converted model doesn't print this", source_of(node), "", "", 0});
    }
  });
}

}  // namespace nnapi_convert
