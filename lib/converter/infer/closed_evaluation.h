// Evaluates at conversion what depends on constants only: masks, position tables, arithmetic on sizes that are fixed.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Goes over a graph in program order with its caller, who reports each node to exactly one of both functions.
class ClosedEvaluation {
 public:
  explicit ClosedEvaluation(torch::jit::Graph& graph);

  // Runs the node if all its inputs are constants, or it reads their shape and dtype alone, and nothing but values made
  // here changes by it, and inserts constants before it that equal its outputs. False, and nothing changed, where that
  // can't be done.
  bool run(torch::jit::Node& node, const TypeMap& types, std::vector<torch::jit::Value*>& outputs);
  // The node stays in the graph and reads its constant inputs as they are at this point of the program.
  void keep(const torch::jit::Node& node);

 private:
  bool may_run(const torch::jit::Node& node) const;
  bool may_write(const torch::jit::Node& node) const;

  torch::jit::Graph& graph_;
  std::unordered_set<const void*> fixed_;  // storages that must not change: the model's own, and those already read
};

// Constants that the graph changes in place: this evaluation made them, as no model's own are changed.
std::vector<const torch::jit::Value*> changed_constants(const std::shared_ptr<torch::jit::Graph>& graph);

// What a node asks about a tensor of known type and not about its values (prim::dtype, aten::dim...).
c10::optional<c10::IValue> property_of(const torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
