// SPDX-License-Identifier: BSD-3-Clause
// The rewrites of a graph that need types: their list, in their order.
#pragma once

#include <vector>

#include "lib/converter/frontend/rewriting.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Says when a pass is tried at a node.
enum class NodeState {
  kUntyped,      // before the node, and the nodes in its blocks, have types
  kBlocksTyped,  // the nodes in the node's blocks have types
  kRefused,      // no rule types the node
  kTyped,        // the node has types, or is known to have none
};

// A pass on single nodes.
struct NodePass {
  const char* name;
  NodeState state;
  bool is_for_whole_graphs;  // false: also for graphs that TorchScript runs in parts
  Rewritten (*run)(TorchNode* node, Rewriting& rewriting);
};

// A pass on the graph.
struct GraphPass {
  const char* name;
  bool changes_types;              // all nodes have to be typed again if it changed the graph
  bool (*run)(TypedGraph& graph);  // returns whether it changed the graph
};

// Returns the passes on nodes, in the order in which they are tried at each node.
const std::vector<NodePass>& node_passes();
// Returns the passes on the graph, which run after those on nodes, in their order.
const std::vector<GraphPass>& graph_passes();

}  // namespace nnapi_convert
