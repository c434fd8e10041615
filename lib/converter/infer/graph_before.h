// Restores a graph as it was before inference, if inference made a constant of a node that has to stay.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Gives each node a number. Copies of a node keep its number.
void number_nodes(torch::jit::Graph& graph);
// Returns the node's number; -1 for a node inserted after number_nodes().
int64_t number_of(const torch::jit::Node& node);
// Gives the node, which was made of another one, and the nodes in its blocks that one's number.
void set_number(torch::jit::Node& node, int64_t number);

// A copy of a model's graph.
class GraphBefore {
 public:
  explicit GraphBefore(const NormalisedModel& model);

  // Replaces the model's changed graph by the copy, and returns the types of the copy's inputs.
  TypeMap restore(NormalisedModel& model, const TypeMap& input_types) const;

 private:
  std::shared_ptr<torch::jit::Graph> old_, copy_;
  std::vector<torch::jit::Value*> outputs_;
};

}  // namespace nnapi_convert
