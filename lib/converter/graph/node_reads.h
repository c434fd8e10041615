// SPDX-License-Identifier: BSD-3-Clause
// Walks over the nodes of a graph and over the values that they read.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Calls `visit` with the node and with each node in its blocks, at any depth.
template <typename Visit>
void for_each_node(torch::jit::Node& node, const Visit& visit) {
  visit(node);
  for (torch::jit::Block* block : node.blocks()) {
    for (torch::jit::Node* inner : block->nodes()) for_each_node(*inner, visit);
  }
}

// Calls `visit` with each node of the block or graph, at any depth.
template <typename Visit>
void for_each_node(torch::jit::Block& block, const Visit& visit) {
  for (torch::jit::Node* node : block.nodes()) for_each_node(*node, visit);
}
template <typename Visit>
void for_each_node(torch::jit::Graph& graph, const Visit& visit) {
  for_each_node(*graph.block(), visit);
}

// Calls `visit` with each value that the node or a node in its blocks reads, and with each output of the blocks. This
// includes values that are made inside the blocks.
template <typename Visit>
void for_each_read(torch::jit::Node& node, const Visit& visit) {
  for_each_node(node, [&](torch::jit::Node& each) {
    for (torch::jit::Value* input : each.inputs()) visit(input);
    for (torch::jit::Block* block : each.blocks()) {
      for (torch::jit::Value* output : block->outputs()) visit(output);
    }
  });
}

// True for an operator that makes a number, or a list of numbers, of a tensor's elements (item(), int(x), torch.equal).
bool reads_values(const torch::jit::Node& node);

// Returns the node's argument of this name in the schema; null where the schema has none, or the node has no schema.
inline const torch::jit::Value* input_named(const torch::jit::Node& node, const char* name) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
  return index ? node.input(static_cast<size_t>(*index)) : nullptr;
}

// True if the value is made in a block of the node, at any depth.
inline bool is_made_inside(const torch::jit::Value& value, const torch::jit::Node& node) {
  for (const torch::jit::Node* at = value.node(); at != nullptr; at = at->owningBlock()->owningNode()) {
    if (at->owningBlock()->owningNode() == &node) return true;
  }
  return false;
}

}  // namespace nnapi_convert
