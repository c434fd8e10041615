#include "lib/converter/infer/known_rewrites.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <vector>

#include "lib/converter/formulas/formulas.h"
#include "lib/converter/graph/lineage.h"
#include "lib/converter/graph/runtime_numbers.h"
#include "lib/converter/infer/closed_evaluation.h"
#include "lib/converter/infer/expand_composite.h"
#include "lib/converter/infer/known_elements.h"
#include "lib/converter/infer/plain_forms.h"
#include "lib/converter/infer/rank_0.h"
#include "lib/converter/infer/runtime_sizes.h"
#include "lib/converter/infer/trial_run.h"
#include "lib/converter/normalise/decompose.h"
#include "lib/converter/normalise/unroll_loops.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::TupleConstruct ||
         node.kind() == c10::prim::DictConstruct;
}

bool keeping_outputs(NormalisedModel& model, const std::function<bool(std::shared_ptr<torch::jit::Graph>&)>& change) {
  const size_t first = model.graph->outputs().size();
  for (Value* output : model.outputs) model.graph->registerOutput(output);
  const bool any = change(model.graph);
  for (size_t i = 0; i < model.outputs.size(); ++i) model.outputs[i] = model.graph->outputs()[first + i];
  while (model.graph->outputs().size() > first) model.graph->eraseOutput(first);
  return any;
}

bool KnownRewrites::choose_branch(Node* node) {
  if (node->kind() != c10::prim::If) return false;
  const auto condition = torch::jit::toIValue(node->input(0));
  if (!condition) return false;
  Block* block = node->blocks()[condition->toBool() ? 0 : 1];
  while (block->nodes().begin() != block->nodes().end()) (*block->nodes().begin())->moveBefore(node);
  for (size_t i = 0; i < node->outputs().size(); ++i) replace(node->output(i), block->outputs()[i]);
  node->destroy();
  return true;
}

bool KnownRewrites::replace_by_tensors(Node* node, const TypeMap& types) {
  Value* replacement = replacement_on_tensors(node, types);
  if (replacement == nullptr) return false;
  replace(node->output(), replacement);
  node->destroy();
  return true;
}

bool KnownRewrites::expand(Node* node, const TypeMap& types) {
  if (is_structural(*node)) return false;
  const bool has_formula = !is_made_of_itself(*node) && find_formula(*node, types) != nullptr;
  if (!has_formula && replace_by(node, with_axis(*node, types))) return true;
  if (!has_formula && (find_typed_rule(*node, types) != nullptr || known_refusal(*node) != nullptr)) return false;
  if (is_made_of_itself(*node)) return false;
  const std::vector<std::string> lineage = lineage_of(*node);
  Node *before = node->prev(), *after = node->next();
  if (!has_formula && keeping_outputs(model_, [node](const auto&) { return decompose(node); })) {
    set_lineage(before->next(), after, lineage);
    return true;
  }
  std::vector<Value*> values = has_formula ? std::vector<Value*>() : known_elements(*node, types);
  if (values.empty() && !has_formula) values = plain_form(*node);
  if (values.empty()) values = expand_composite(*node, types);
  set_lineage(before->next(), node, lineage);
  return replace_by(node, values);
}

// Replaces the node's outputs by the values and destroys the node. False if there are no values.
bool KnownRewrites::replace_by(Node* node, const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    take_apart_list(*node->output(i), *values[i]->node());
    replace(node->output(i), values[i]);
  }
  if (!values.empty()) node->destroy();
  return !values.empty();
}

// Replaces each ListUnpack of a list that the graph makes in place by the list's elements.
void KnownRewrites::take_apart_list(const Value& output, const Node& list) {
  if (list.kind() != c10::prim::ListConstruct) return;
  std::vector<Node*> unpacks;
  for (const torch::jit::Use& use : output.uses()) {
    const bool fits = use.user->outputs().size() == list.inputs().size();
    if (fits && use.user->kind() == c10::prim::ListUnpack) unpacks.push_back(use.user);
  }
  for (Node* unpack : unpacks) {
    for (size_t i = 0; i < list.inputs().size(); ++i) replace(unpack->output(i), const_cast<Value*>(list.input(i)));
    unpack->destroy();
  }
}

bool KnownRewrites::take_apart(Node* node) {
  const bool is_index = node->kind() == c10::prim::TupleIndex;
  if (!is_index && node->kind() != c10::prim::TupleUnpack) return false;
  const Node* tuple = node->input(0)->node();
  if (tuple->kind() != c10::prim::TupleConstruct) return false;
  const auto size = static_cast<int64_t>(tuple->inputs().size());
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const int64_t index = is_index ? torch::jit::toIValue(node->input(1))->toInt() : static_cast<int64_t>(i);
    replace(node->output(i), const_cast<Value*>(tuple->input(static_cast<size_t>((index + size) % size))));
  }
  node->destroy();
  return true;
}

bool KnownRewrites::evaluate(Node* node, const TypeMap& types) {
  if (const auto property = property_of(*node, types)) {
    replace(node->output(), *property);
    node->destroy();
    return true;
  }
  if (!is_closed(*node)) return false;
  if (written_.has_output_of(*node)) {
    left_written_ = true;
    return false;
  }
  return replace_by(node, nnapi_convert::evaluate(*node, types));
}

bool KnownRewrites::replace_empty(Node* node, const TypeMap& types) {
  const auto is_output = [this](const Value* value) {
    return std::find(model_.outputs.begin(), model_.outputs.end(), value) != model_.outputs.end();
  };
  const auto outputs = node->outputs();
  if (std::any_of(outputs.begin(), outputs.end(), is_output)) return false;
  const auto empties = observed_empties(*node, types);
  if (!empties || empties->empty()) return false;
  for (size_t i = 0; i < empties->size(); ++i) replace(node->output(i), c10::IValue((*empties)[i]));
  node->destroy();
  return true;
}

void KnownRewrites::replace_fixed_sizes(Node* node, const TypeMap& types) {
  for (Value* output : node->outputs()) {
    const auto found = types.find(output);
    const Dims* sizes = found == types.end() ? nullptr : std::get_if<Dims>(&found->second);
    if (sizes == nullptr || !all_fixed(*sizes) || written_.has(*output)) continue;
    replace(output, sizes_constant(*output, fixed_values(*sizes)));
  }
}

bool KnownRewrites::unroll() {
  return keeping_outputs(model_, [](std::shared_ptr<torch::jit::Graph>& graph) {
    const bool any = unroll_loops(graph);
    if (any) torch::jit::RemoveListMutation(graph);
    return any;
  });
}

void KnownRewrites::replace(Value* from, Value* to) {
  std::replace(model_.outputs.begin(), model_.outputs.end(), from, to);
  from->replaceAllUsesWith(to);
}

void KnownRewrites::replace(Value* output, const c10::IValue& constant) {
  torch::jit::WithInsertPoint here(output->node());
  replace(output, model_.graph->insertConstant(constant));
}

}  // namespace nnapi_convert
