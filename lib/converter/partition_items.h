// What partition() decides about: the nodes of a graph with all that ties them to others.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/converter/nnapi_part.h"
#include "lib/converter/normalise.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// A node, and those that take apart a list that it gives.
struct PartitionItem {
  std::vector<torch::jit::Node*> nodes;
  std::vector<size_t> needs;      // numbers of the items that come before
  std::optional<Refusal> reason;  // why it stays on the CPU; nothing: it goes to NNAPI
  bool is_pinned = false;         // the CPU can't run it
  int64_t macs = 0;               // multiply-adds, as far as they are known
  bool has_unknown_macs = false;  // it multiplies, but its sizes aren't known
};

// What partition() knows of the whole graph.
struct PartitionGraph {
  const TypeMap& types;
  const ConvertOptions& options;
  std::unique_ptr<torch::jit::AliasDb> aliases;  // null: nothing is changed in place
};
PartitionGraph partition_graph(const NormalisedModel& model, const TypeMap& types, const ConvertOptions& options);

// Of the graph's own block, or one of a branch or loop, in its order; constants and glue are in none, and a node with
// blocks is one item.
std::vector<PartitionItem> partition_items(torch::jit::Block& block, const PartitionGraph& graph);

}  // namespace nnapi_convert
