// SPDX-License-Identifier: BSD-3-Clause
// Makes the items that partition() places: nodes with their dependencies, reasons and costs.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/memory_order.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/converter/plan/node_cost.h"

namespace nnapi_convert {

// A node, together with the nodes that take apart a list that it returns.
struct PartitionItem {
  std::vector<torch::jit::Node*> nodes;
  std::vector<size_t> needs;         // numbers of the items that have to run before
  std::vector<size_t> number_needs;  // items that compute sizes: needed only if this item runs on the CPU
  std::optional<Refusal> reason;     // why the item stays on the CPU; nothing: it goes to NNAPI
  std::string since = {};            // source line of another operator that the reason names; may be empty
  bool is_pinned = false;            // the CPU can't run the item
  bool keeps_float32 = false;        // NNAPI runs it in segments of such items
  std::optional<OpenSize> rows;      // the item works row by row along this size
  Count macs = 0;                    // multiply-adds
  CostKind cost = CostKind::kNone;   // the operator's kind of cost
  bool is_estimated = false;         // `macs` is computed from an estimated number of rows
  bool multiplies() const { return macs.value_or(cost == CostKind::kProduct ? 1 : 0) > 0; }
  bool computes = false;  // NNAPI computes the item; its result is no constant and no unchanged input
};

// The data about the whole graph that partition_items() needs.
struct PartitionGraph {
  const InferredTypes& inferred;
  const PlanOptions& options;
  const torch::jit::Module& module;  // its attributes are those that the graph reads and sets
  const NodesKeptForOrder& kept;
  std::unique_ptr<torch::jit::AliasDb> aliases;  // null: the graph changes no value in place
};
PartitionGraph partition_graph(const NormalisedModel& model, const InferredTypes& inferred, const PlanOptions& options,
                               const NodesKeptForOrder& kept);

// Returns the items of one block, in the order of its nodes. Constants and glue are in no item; a branch or loop is one
// item.
std::vector<PartitionItem> partition_items(torch::jit::Block& block, const PartitionGraph& graph);

}  // namespace nnapi_convert
