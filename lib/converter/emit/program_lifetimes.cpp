// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program_lifetimes.h"

#include <algorithm>

namespace nnapi_convert {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

namespace {

bool is_list_of_call(const Node& node) {
  const torch::jit::use_list& uses = node.output()->uses();
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    return use.user->kind() == c10::prim::CallMethod && use.offset > 0;
  });
}

// Returns the block in which the value is made.
const Block* home_of(const Value* value) {
  return value->node()->owningBlock();
}

}  // namespace

Lifetimes::Lifetimes(torch::jit::Graph& graph) {
  visit(*graph.block());
  for (const auto& [value, node] : last_) ends_[node].push_back(value);
  for (auto& [node, values] : ends_) {
    std::sort(values.begin(), values.end(), [](const Value* a, const Value* b) { return a->unique() < b->unique(); });
  }
}

const Value* Lifetimes::root(const Value* value) const {
  while (value->node()->kind() == c10::prim::unchecked_cast) value = value->node()->input();
  return value;
}

void Lifetimes::visit(const Block& block) {
  for (const Node* node : block.nodes()) {
    if (node->kind() == c10::prim::unchecked_cast) continue;
    if (node->kind() == c10::prim::ListConstruct && is_list_of_call(*node)) {
      parts_.insert(node);
      continue;
    }
    for (const Value* input : node->inputs()) read(input, *node);
    for (const Block* inner : node->blocks()) visit(*inner);
  }
  for (const Value* output : block.outputs()) read(output, *block.return_node());
}

// Records that `by` reads the value. Nodes are visited in their order, so that the last one that reads a value stays.
void Lifetimes::read(const Value* given, const Node& by) {
  const Value* value = root(given);
  if (parts_.count(value->node()) != 0) {
    for (const Value* element : value->node()->inputs()) read(element, by);
    return;
  }
  const Node* node = &by;
  while (node->owningBlock() != home_of(value)) node = node->owningBlock()->owningNode();
  last_[value] = node;
}

std::vector<const Value*> Lifetimes::last_read_by(const Node& node) const {
  std::vector<const Value*> result;
  const auto found = ends_.find(&node);
  if (found != ends_.end()) result = found->second;
  for (const Value* output : node.outputs()) {
    if (!is_read(output)) result.push_back(output);
  }
  return result;
}

std::vector<const Value*> Lifetimes::left_by(const Block& block) const {
  std::vector<const Value*> result;
  const auto found = ends_.find(block.return_node());
  if (found != ends_.end()) result = found->second;
  for (const Value* input : block.inputs()) {
    if (!is_read(input)) result.push_back(input);
  }
  return result;
}

}  // namespace nnapi_convert
