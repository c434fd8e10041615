// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/quant_copies.h"

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

class Copies {
 public:
  Copies(NormalisedModel& model, TypeMap& types) : model_(model), types_(types) {
    for_each_node(*model.graph, [this](Node& node) {
      const c10::FunctionSchema* schema = const_cast<const Node&>(node).maybeSchema();
      keeps_ = keeps_ || node.kind() == c10::prim::SetAttr;
      changes_ = changes_ || (schema != nullptr && schema->is_mutable());
    });
  }

  void insert() {
    if (!keeps_ && !changes_) return;
    const torch::jit::AliasDb aliases(model_.graph);
    std::vector<Node*> quantised, dequantised;
    const auto may_change = [&](const Value* value) { return keeps_ || aliases.hasWriters(value); };
    for (const Value* input : model_.inputs) {
      for (const torch::jit::Use& use : input->uses()) {
        if (use.user->kind() == kQuantize && may_change(use.user->output())) quantised.push_back(use.user);
      }
    }
    for (const Value* output : model_.outputs) {
      Node* node = const_cast<Node*>(output->node());
      const bool is_new = std::find(dequantised.begin(), dequantised.end(), node) == dequantised.end();
      if (is_new && node->kind() == kDequantize && may_change(node->input(0))) dequantised.push_back(node);
    }
    for (Node* node : quantised) copy_result(node);
    for (Node* node : dequantised) copy_input(node);
  }

 private:
  Node* copy_of(Value* value, Node* behind) {
    Graph& graph = *model_.graph;
    Node* none = graph.createNone()->insertAfter(behind);
    Node* copy = graph.create(c10::aten::clone, {value, none->output()}, 1)->insertAfter(none);
    copy->setSourceRange(behind->sourceRange());
    if (const auto found = types_.find(value); found != types_.end()) types_[copy->output()] = ValueType(found->second);
    return copy;
  }

  void copy_result(Node* node) {
    Node* copy = copy_of(node->output(), node);
    node->output()->replaceAllUsesAfterNodeWith(copy, copy->output());
    std::replace(model_.outputs.begin(), model_.outputs.end(), node->output(), copy->output());
  }

  // Copies the input right before dequantize, as in-place changes may come before and after the copy.
  void copy_input(Node* node) { node->replaceInput(0, copy_of(node->input(0), node->prev())->output()); }

  NormalisedModel& model_;
  TypeMap& types_;
  bool keeps_ = false, changes_ = false;
};

}  // namespace

void copy_changed_values(NormalisedModel& model, TypeMap& types) {
  Copies(model, types).insert();
}

}  // namespace nnapi_convert
