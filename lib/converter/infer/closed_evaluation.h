// Evaluates at conversion the nodes that depend on constants only: masks, position tables, arithmetic on fixed sizes.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The caller visits the nodes of a graph in program order, and passes each node to either run() or keep().
class ClosedEvaluation {
 public:
  explicit ClosedEvaluation(torch::jit::Graph& graph);

  // Runs the node if all its inputs are constants, or if it reads only their shape and dtype, and if it changes no
  // values except those made here. Inserts constants before the node that equal its outputs. Otherwise returns false
  // and changes nothing.
  bool run(torch::jit::Node& node, const TypeMap& types, std::vector<torch::jit::Value*>& outputs);
  // Records that the node stays in the graph: its constant inputs must not change from this point of the program on.
  void keep(const torch::jit::Node& node);

 private:
  bool may_run(const torch::jit::Node& node) const;
  bool may_write(const torch::jit::Node& node) const;

  torch::jit::Graph& graph_;
  std::unordered_set<const void*> fixed_;  // storages that must not change: the model's own, and those already read
};

// Returns the constants that the graph changes in place. ClosedEvaluation made them: a model's own are never changed.
std::vector<const torch::jit::Value*> changed_constants(const std::shared_ptr<torch::jit::Graph>& graph);

// Returns the result of a node that reads a property of a tensor of known type, but no values (prim::dtype,
// aten::dim...); nothing for other nodes.
c10::optional<c10::IValue> property_of(const torch::jit::Node& node, const TypeMap& types);

}  // namespace nnapi_convert
