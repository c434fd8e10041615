#include "lib/converter/infer/graph_before.h"

#include <algorithm>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

c10::Symbol number_attribute() {
  static const c10::Symbol symbol = c10::Symbol::attr("nnapi_number");
  return symbol;
}

}  // namespace

void number_nodes(torch::jit::Graph& graph) {
  int64_t number = 0;
  for_each_node(graph, [&](Node& node) { node.i_(number_attribute(), number++); });
}

int64_t number_of(const Node& node) {
  return node.hasAttribute(number_attribute()) ? node.i(number_attribute()) : -1;
}

void set_number(Node& node, int64_t number) {
  if (number >= 0) node.i_(number_attribute(), number);
  for (torch::jit::Block* block : node.blocks()) {
    for (Node* inner : block->nodes()) set_number(*inner, number);
  }
}

GraphBefore::GraphBefore(const NormalisedModel& model) : old_(model.graph) {
  const size_t own = old_->outputs().size();
  for (Value* output : model.outputs) old_->registerOutput(output);
  copy_ = old_->copy();
  while (old_->outputs().size() > own) old_->eraseOutput(own);
  for (size_t i = own; i < copy_->outputs().size(); ++i) outputs_.push_back(copy_->outputs()[i]);
  while (copy_->outputs().size() > own) copy_->eraseOutput(own);
}

TypeMap GraphBefore::restore(NormalisedModel& model, const TypeMap& input_types) const {
  TypeMap types;
  for (size_t i = 0; i < old_->inputs().size(); ++i) {
    const auto found = input_types.find(old_->inputs()[i]);
    if (found != input_types.end()) types[copy_->inputs()[i]] = found->second;
    std::replace(model.inputs.begin(), model.inputs.end(), old_->inputs()[i], copy_->inputs()[i]);
  }
  model.graph = copy_;
  model.outputs = outputs_;
  return types;
}

}  // namespace nnapi_convert
