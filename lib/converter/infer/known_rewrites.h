// What inference changes in a graph by what it knows so far: what is left has fewer branches, loops and operators.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/closed_evaluation.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Constants, and containers that forward returns or a rule reads in place.
bool is_structural(const TorchNode& node);

// Runs `change` on the model's graph; the model's outputs are then those that the changed graph gives. The result is
// that of `change`.
bool keeping_outputs(NormalisedModel& model, const std::function<bool(std::shared_ptr<torch::jit::Graph>&)>& change);

// Goes over a model's graph with its caller, in program order. Where a function gives true, the node is gone, and what
// stands in its place is between the node before it and the one after it; `unroll` changes the whole graph.
class KnownRewrites {
 public:
  explicit KnownRewrites(NormalisedModel& model) : model_(model), evaluation_(*model.graph) {}

  // A prim::If whose condition is constant: the nodes of the chosen block take its place.
  bool choose_branch(TorchNode* node);
  // Arithmetic on numbers that were taken out of tensors becomes one of tensors (runtime_numbers.h).
  bool replace_by_tensors(TorchNode* node, const TypeMap& types);
  // An operator that works along an axis, on tensors of rank 0 (rank_0.h), or one without a rule that ATen makes of
  // others that have rules (expand_composite.h). Ends: what is made of an operator knows its lineage (lineage.h), and
  // no operator that was made of itself is taken apart.
  bool expand(TorchNode* node, const TypeMap& types);
  // What reads a tuple that is made in the graph: a branch may have made it, known once the branch was chosen.
  bool take_apart(TorchNode* node);
  // What is known without being run on the device.
  bool evaluate(TorchNode* node, const TypeMap& types);
  // What gives empty tensors only, none of which forward returns: they are constants.
  bool replace_empty(TorchNode* node, const TypeMap& types);
  // The node stays, and reads its constants as they are at this point of the program.
  void keep(const TorchNode& node) { evaluation_.keep(node); }
  // Sizes that turned out to be numbers are constants for what follows; the node stays.
  void replace_fixed_sizes(TorchNode* node, const TypeMap& types);

  // Loops whose number of rounds turned out to be known (unroll_loops.h). True if there were any: the caller begins
  // again.
  bool unroll();

 private:
  bool replace_by(TorchNode* node, const std::vector<TorchValue*>& values);
  void take_apart_list(const TorchValue& output, const TorchNode& list);
  void replace(TorchValue* from, TorchValue* to);
  void replace(TorchValue* output, const c10::IValue& constant);

  NormalisedModel& model_;
  ClosedEvaluation evaluation_;
};

}  // namespace nnapi_convert
