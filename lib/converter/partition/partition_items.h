// What partition() decides about: the nodes of a graph with all that ties them to others.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/infer.h"
#include "lib/converter/lower/nnapi_part.h"
#include "lib/converter/partition/node_cost.h"

namespace nnapi_convert {

// A node, and those that take apart a list that it gives.
struct PartitionItem {
  std::vector<torch::jit::Node*> nodes;
  std::vector<size_t> needs;         // numbers of the items that come before
  std::vector<size_t> number_needs;  // the same, for numbers of rows that it reads: only the CPU needs these
  std::optional<Refusal> reason;     // why it stays on the CPU; nothing: it goes to NNAPI
  std::string since = {};            // source line of what the reason names besides; may be empty
  bool is_pinned = false;            // the CPU can't run it
  std::optional<OpenSize> rows;      // it is row by row along this size
  Count macs = 0;                    // multiply-adds
  CostKind cost = CostKind::kNone;   // of the operator
  bool is_estimated = false;         // they are for an estimate of how many rows there are
  bool multiplies() const { return macs.value_or(cost == CostKind::kProduct ? 1 : 0) > 0; }
  bool computes = false;  // NNAPI has operations for it; it is no constant, and not its input
};

// What partition() knows of the whole graph.
struct PartitionGraph {
  const InferredTypes& inferred;
  const ConvertOptions& options;
  std::unique_ptr<torch::jit::AliasDb> aliases;  // null: nothing is changed in place
};
PartitionGraph partition_graph(const NormalisedModel& model, const InferredTypes& inferred,
                               const ConvertOptions& options);

// Of the graph's own block, or one of a branch or loop, in its order; constants and glue are in none, and a node with
// blocks is one item.
std::vector<PartitionItem> partition_items(torch::jit::Block& block, const PartitionGraph& graph);

}  // namespace nnapi_convert
