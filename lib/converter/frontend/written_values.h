// SPDX-License-Identifier: BSD-3-Clause
// Finds the values whose memory a node of the graph changes in place. They must not become constants: a constant would
// keep the changes of one run for the next one. Makes constants of tensors whose changes are known, such as masks.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// An object is valid while nodes of the graph are replaced by others that compute the same. Make a new one after any
// other change.
class WrittenValues {
 public:
  explicit WrittenValues(const std::shared_ptr<torch::jit::Graph>& graph) : graph_(graph) {}

  // True if a node may change the memory of the tensor or list, directly or through a view of it. Other values have no
  // memory. True also where this isn't known.
  bool has(const torch::jit::Value& value);
  // True if has() is true for an output of the node.
  bool has_output_of(const torch::jit::Node& node);

 private:
  // kUnclear: LibTorch can't analyse the graph, as nodes that will be replaced have inputs of other types by now.
  enum class Graph { kUnknown, kUnchanging, kChanging, kUnclear };

  void find_changes();
  void analyse();

  const std::shared_ptr<torch::jit::Graph>& graph_;
  Graph kind_ = Graph::kUnknown;
  std::unique_ptr<torch::jit::AliasDb> aliases_;  // made at the first question that needs it
  size_t newest_ = 0;                             // the greatest unique() of the values that aliases_ knows
};

// Replaces by constants the tensors that nodes of constant inputs make and change in place, if no other node changes
// them, and no other node reads them before the last change. True if there were any.
bool evaluate_closed_writes(NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
