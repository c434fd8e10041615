// Rewrites nodes of a graph by the types that inference has found so far. This removes branches, loops and operators.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/written_values.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True for constants, and for nodes that make containers that forward returns or rules read in place.
bool is_structural(const TorchNode& node);

// Runs `change` on the model's graph, then sets the model's outputs to those of the changed graph. Returns the result
// of `change`.
bool keeping_outputs(NormalisedModel& model, const std::function<bool(std::shared_ptr<torch::jit::Graph>&)>& change);

// The caller visits the nodes of a model's graph in program order. If a function returns true, the node is gone, and
// the new nodes stand between the node before it and the node after it. `unroll` changes the whole graph.
class KnownRewrites {
 public:
  explicit KnownRewrites(NormalisedModel& model) : model_(model), written_(model.graph) {}

  // Replaces a prim::If with a constant condition by the nodes of the chosen block.
  bool choose_branch(TorchNode* node);
  // Replaces arithmetic on numbers that were read from tensors by operators on tensors (runtime_numbers.h).
  bool replace_by_tensors(TorchNode* node, const TypeMap& types);
  // Takes apart an operator along an axis on tensors of rank 0 (rank_0.h), or an operator without a rule that ATen
  // computes by operators with rules (expand_composite.h). This ends: new nodes know their lineage (lineage.h), and no
  // operator is taken apart that was made of itself.
  bool expand(TorchNode* node, const TypeMap& types);
  // Replaces the outputs of a node that reads a tuple made in the graph (often in a chosen branch) by its elements.
  bool take_apart(TorchNode* node);
  // Replaces a node whose results are known at conversion by constants, unless the graph changes a result in place.
  bool evaluate(TorchNode* node, const TypeMap& types);
  // True if evaluate() left a node because the graph changes its result.
  bool left_written() const { return left_written_; }
  // Replaces a node whose results are all empty tensors by constants, unless forward returns one of them.
  bool replace_empty(TorchNode* node, const TypeMap& types);
  // Replaces outputs that are sizes with known values by constants in later nodes, unless the graph changes the list in
  // place; the node stays.
  void replace_fixed_sizes(TorchNode* node, const TypeMap& types);

  // Unrolls loops whose number of rounds is constant by now (unroll_loops.h). True if there were any: the caller has to
  // begin again.
  bool unroll();

 private:
  bool replace_by(TorchNode* node, const std::vector<TorchValue*>& values);
  void take_apart_list(const TorchValue& output, const TorchNode& list);
  void replace(TorchValue* from, TorchValue* to);
  void replace(TorchValue* output, const c10::IValue& constant);

  NormalisedModel& model_;
  WrittenValues written_;
  bool left_written_ = false;
};

}  // namespace nnapi_convert
