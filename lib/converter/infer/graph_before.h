// Takes a graph back to what it was before inference, where a constant was made of a value that has to be kept.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Nodes have a number that their copies keep.
void number_nodes(torch::jit::Graph& graph);
// -1 for a node that came later.
int64_t number_of(const torch::jit::Node& node);
// What is made of a node has its number.
void copy_number(const torch::jit::Node& from, torch::jit::Node& to);

// A copy of a model's graph.
class GraphBefore {
 public:
  explicit GraphBefore(const NormalisedModel& model);

  // Puts it back in place of the changed one, and gives the types of its inputs.
  TypeMap restore(NormalisedModel& model, const TypeMap& input_types) const;

 private:
  std::shared_ptr<torch::jit::Graph> old_, copy_;
  std::vector<torch::jit::Value*> outputs_;
};

}  // namespace nnapi_convert
