// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/rewrites.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/converter/frontend/closed_evaluation.h"
#include "lib/converter/frontend/containers.h"
#include "lib/converter/frontend/expand_composite.h"
#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/frontend/known_elements.h"
#include "lib/converter/frontend/nested_tensors.h"
#include "lib/converter/frontend/normalise.h"
#include "lib/converter/frontend/rank_0.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/frontend/written_values.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/masked_parts.h"
#include "lib/converter/graph/neutral_arithmetic.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/runtime_numbers.h"
#include "lib/ops/decompositions.h"
#include "lib/ops/formulas.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/lineage.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

void replace(NormalisedModel& model, Value* from, Value* to) {
  std::replace(model.outputs.begin(), model.outputs.end(), from, to);
  from->replaceAllUsesWith(to);
}

void replace_by_constant(NormalisedModel& model, Value* output, const c10::IValue& constant) {
  torch::jit::WithInsertPoint here(output->node());
  replace(model, output, model.graph->insertConstant(constant));
}

// Replaces each ListUnpack of a list that the graph makes in place by the list's elements.
void take_apart_list(NormalisedModel& model, const Value& output, const Node& list) {
  if (list.kind() != c10::prim::ListConstruct) return;
  std::vector<Node*> unpacks;
  for (const torch::jit::Use& use : output.uses()) {
    const bool fits = use.user->outputs().size() == list.inputs().size();
    if (fits && use.user->kind() == c10::prim::ListUnpack) unpacks.push_back(use.user);
  }
  for (Node* unpack : unpacks) {
    for (size_t i = 0; i < list.inputs().size(); ++i) {
      replace(model, unpack->output(i), const_cast<Value*>(list.input(i)));
    }
    unpack->destroy();
  }
}

// Replaces the node's outputs by the values and destroys the node, if there are values.
Rewritten replace_by(NormalisedModel& model, Node* node, const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    take_apart_list(model, *node->output(i), *values[i]->node());
    replace(model, node->output(i), values[i]);
  }
  if (values.empty()) return Rewritten::kNothing;
  node->destroy();
  return Rewritten::kReplaced;
}

// True if an operator takes a tensor as a number, which LibTorch's passes can't bear: NNAPI's WHILE counts in a tensor.
bool has_tensor_as_number(torch::jit::Graph& graph) {
  bool has = false;
  for_each_node(graph,
                [&](const Node& node) { has = has || (node.kind().is_aten() && node.maybeSchema() == nullptr); });
  return has;
}

}  // namespace

bool keeping_outputs(NormalisedModel& model, const std::function<bool(std::shared_ptr<torch::jit::Graph>&)>& change) {
  if (has_tensor_as_number(*model.graph)) return false;
  const size_t first = model.graph->outputs().size();
  for (Value* output : model.outputs) model.graph->registerOutput(output);
  const bool any = change(model.graph);
  for (size_t i = 0; i < model.outputs.size(); ++i) model.outputs[i] = model.graph->outputs()[first + i];
  while (model.graph->outputs().size() > first) model.graph->eraseOutput(first);
  return any;
}

bool is_needed(const NormalisedModel& model, const Value& value) {
  return !value.uses().empty() || std::find(model.outputs.begin(), model.outputs.end(), &value) != model.outputs.end();
}

bool is_structural(const Node& node) {
  return node.kind() == c10::prim::Constant || node.kind() == c10::prim::TupleConstruct ||
         node.kind() == c10::prim::DictConstruct;
}

Rewritten unroll_known_loops(Node* node, Rewriting& rewriting) {
  if (node->kind() != c10::prim::Loop || !rewriting.unrolls_loops) return Rewritten::kNothing;
  if (!torch::jit::toIValue(node->input(0))) return Rewritten::kNothing;
  if (!is_counted(*node)) {
    if (!rewriting.tries_loops) return Rewritten::kNothing;
    const auto rounds = tried_rounds(*node, rewriting.types, rewriting.infer_copy);
    if (!rounds) return Rewritten::kNothing;
    count_rounds(*node, *rounds);
  }
  if (rewriting.is_too_large) return Rewritten::kNothing;
  rewriting.begins_again = keeping_outputs(rewriting.model, [](std::shared_ptr<torch::jit::Graph>& graph) {
    const bool any = unroll_loops(graph);
    if (any) torch::jit::RemoveListMutation(graph);
    return any;
  });
  rewriting.is_too_large = !rewriting.begins_again;
  return rewriting.begins_again ? Rewritten::kReplaced : Rewritten::kNothing;
}

Rewritten choose_branch(Node* node, Rewriting& rewriting) {
  if (node->kind() != c10::prim::If) return Rewritten::kNothing;
  const auto condition = torch::jit::toIValue(node->input(0));
  if (!condition) return Rewritten::kNothing;
  Block* block = node->blocks()[condition->toBool() ? 0 : 1];
  while (block->nodes().begin() != block->nodes().end()) (*block->nodes().begin())->moveBefore(node);
  for (size_t i = 0; i < node->outputs().size(); ++i) replace(rewriting.model, node->output(i), block->outputs()[i]);
  node->destroy();
  rewriting.is_too_large = false;
  return Rewritten::kReplaced;
}

Rewritten replace_by_tensors(Node* node, Rewriting& rewriting) {
  Value* replacement = replacement_on_tensors(node, rewriting.types);
  if (replacement == nullptr) return Rewritten::kNothing;
  replace(rewriting.model, node->output(), replacement);
  node->destroy();
  return Rewritten::kReplaced;
}

Rewritten pad_nested(Node* node, Rewriting& rewriting) {
  return replace_by(rewriting.model, node, padded_form(*node, rewriting.model));
}

Rewritten join_masked_parts(Node* node, Rewriting& rewriting) {
  const auto replace_result = [&](Value* from, Value* to) { replace(rewriting.model, from, to); };
  if (!join_masked_parts(*node, rewriting.types, replace_result)) return Rewritten::kNothing;
  if (node->hasUses()) return Rewritten::kAround;
  node->destroy();
  return Rewritten::kReplaced;
}

// Returns y of x.type_as(y) and x.to(y), which give x itself where it has y's dtype; else nothing.
static Value* dtype_giver(const Node& node) {
  constexpr size_t kCopy = 3;
  if (node.kind() != c10::aten::type_as && node.kind() != c10::aten::to) return nullptr;
  Value* other = const_cast<Value*>(node.input(1));
  if (other->type()->kind() != c10::TypeKind::TensorType) return nullptr;
  if (node.kind() == c10::aten::type_as) return other;
  const auto copies = torch::jit::toIValue(node.input(kCopy));
  return copies && copies->isBool() && !copies->toBool() ? other : nullptr;
}

Rewritten drop_cast(Node* node, Rewriting& rewriting) {
  if (Value* same = neutral_result(node, rewriting.types)) return replace_by(rewriting.model, node, {same});
  const Value* other = dtype_giver(*node);
  if (other == nullptr) return Rewritten::kNothing;
  const TensorType* from = tensor_type_of(node->input(0), rewriting.types);
  const TensorType* to = tensor_type_of(other, rewriting.types);
  if (from == nullptr || to == nullptr || from->dtype != to->dtype) return Rewritten::kNothing;
  replace(rewriting.model, node->output(), node->input(0));
  node->destroy();
  return Rewritten::kReplaced;
}

// True for a composite that stays the one operator that it is.
static bool stays_whole(const Node& node, const InferOptions& options) {
  return !options.kept.empty() && options.kept.count(lineage_of(node).composite) != 0;
}

// Tries the ways of lib/ops/ways.h in their order.
Rewritten expand_operator(Node* node, Rewriting& rewriting) {
  if (is_structural(*node) || stays_whole(*node, rewriting.options)) return Rewritten::kNothing;
  const TypeMap& types = rewriting.types;
  Node* const before = node->prev();
  if (const Decomposition* decomposition = find_decomposition(*node)) {
    const Lineage lineage = lineage_of(*node);
    const Node* after = node->next();
    if (keeping_outputs(rewriting.model, [&](const auto&) { return decomposition->replace(node); })) {
      set_lineage(before->next(), after, lineage);
      return Rewritten::kReplaced;
    }
  }
  const bool is_of_itself = is_made_of_itself(*node);
  const bool has_formula = !is_of_itself && find_formula(*node, types) != nullptr;
  std::vector<Value*> values;
  if (!has_formula) {
    values = with_axis(*node, types);
    if (!values.empty()) return replace_by(rewriting.model, node, values);
    if (find_typed_rule(*node, types) != nullptr || known_refusal(*node) != nullptr || is_of_itself) {
      return Rewritten::kNothing;
    }
    values = known_elements(*node, types);
  }
  if (values.empty()) values = expand_composite(*node, types);
  set_lineage(before->next(), node, lineage_of(*node));
  return replace_by(rewriting.model, node, values);
}

Rewritten take_apart_tuple(Node* node, Rewriting& rewriting) {
  const bool is_index = node->kind() == c10::prim::TupleIndex;
  if (!is_index && node->kind() != c10::prim::TupleUnpack) return Rewritten::kNothing;
  const Node* tuple = node->input(0)->node();
  if (tuple->kind() != c10::prim::TupleConstruct) return Rewritten::kNothing;
  const auto size = static_cast<int64_t>(tuple->inputs().size());
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    const int64_t index = is_index ? torch::jit::toIValue(node->input(1))->toInt() : static_cast<int64_t>(i);
    Value* element = const_cast<Value*>(tuple->input(static_cast<size_t>((index + size) % size)));
    replace(rewriting.model, node->output(i), element);
  }
  node->destroy();
  return Rewritten::kReplaced;
}

// True for a list of tensors that a whole graph changes: its elements are known when its changes are removed.
static bool is_filled_later(const Node& node, const InferOptions& options) {
  if (options.keeps_numbers || node.kind() != c10::prim::ListConstruct) return false;
  const bool has_tensors = node.output()->type()->isSubtypeOf(*c10::ListType::ofTensors());
  return has_tensors && may_be_changed(*node.output());
}

Rewritten evaluate_constant(Node* node, Rewriting& rewriting) {
  if (const auto property = property_of(*node, rewriting.types)) {
    replace_by_constant(rewriting.model, node->output(), *property);
    node->destroy();
    return Rewritten::kReplaced;
  }
  if (!is_closed(*node) || is_filled_later(*node, rewriting.options)) return Rewritten::kNothing;
  if (rewriting.written.has_output_of(*node)) {
    rewriting.left_written = true;
    return Rewritten::kNothing;
  }
  return replace_by(rewriting.model, node, evaluate(*node, rewriting.types));
}

Rewritten carry_tensors(Node* node, Rewriting& rewriting) {
  if (node->kind() != c10::prim::Loop || rewriting.options.control_flow != ControlFlow::kNnapi) {
    return Rewritten::kNothing;
  }
  return carry_tensors(*node) ? Rewritten::kAround : Rewritten::kNothing;
}

Rewritten give_tensors(Node* node, Rewriting&) {
  return give_tensors(*node) ? Rewritten::kAround : Rewritten::kNothing;
}

Rewritten replace_empty(Node* node, Rewriting& rewriting) {
  const auto& returned = rewriting.model.outputs;
  const auto outputs = node->outputs();
  if (std::any_of(outputs.begin(), outputs.end(), [&](const Value* output) {
        return std::find(returned.begin(), returned.end(), output) != returned.end();
      })) {
    return Rewritten::kNothing;
  }
  const auto empties = observed_empties(*node, rewriting.types);
  if (!empties || empties->empty()) return Rewritten::kNothing;
  for (size_t i = 0; i < empties->size(); ++i) {
    replace_by_constant(rewriting.model, node->output(i), c10::IValue((*empties)[i]));
  }
  node->destroy();
  return Rewritten::kReplaced;
}

Rewritten replace_sizes(Node* node, Rewriting& rewriting) {
  if (node->kind() == c10::prim::ListConstruct || node->kind() == c10::prim::ListUnpack) return Rewritten::kNothing;
  Rewritten rewritten = Rewritten::kNothing;
  for (Value* output : node->outputs()) {
    const auto found = rewriting.types.find(output);
    const Dims* sizes = found == rewriting.types.end() ? nullptr : std::get_if<Dims>(&found->second);
    if (sizes == nullptr || !all_fixed(*sizes) || rewriting.written.has(*output)) continue;
    replace_by_constant(rewriting.model, output, sizes_constant(*output, fixed_values(*sizes)));
    rewritten = Rewritten::kAround;
  }
  return rewritten;
}

bool drop_pairs(TypedGraph& graph) {
  std::vector<Node*> pairs;
  for_each_node(*graph.model.graph, [&](Node& node) {
    if (node.outputs().size() == 1 && (is_pair(*node.output()) || is_nested(*node.output()))) pairs.push_back(&node);
  });
  bool any = false;
  std::reverse(pairs.begin(), pairs.end());  // from the last: one may be made of another
  for (Node* node : pairs) {
    if (is_needed(graph.model, *node->output())) continue;
    graph.inferred.types.erase(node->output());
    node->destroy();
    any = true;
  }
  return any;
}

bool evaluate_writes(TypedGraph& graph) {
  return graph.left_written && evaluate_closed_writes(graph.model, graph.inferred.types);
}

bool drop_list_changes(TypedGraph& graph) {
  return graph.is_whole() && graph.is_refused() &&
         keeping_outputs(graph.model, [](auto& changed) { return torch::jit::RemoveListMutation(changed); });
}

static size_t count_changes(torch::jit::Graph& graph) {
  size_t count = 0;
  for_each_node(graph, [&](const Node& node) { count += functional_kind(node) ? 1 : 0; });
  return count;
}

bool remove_changes(TypedGraph& graph) {
  NormalisedModel& model = graph.model;
  const size_t count = count_changes(*model.graph);
  if (!graph.options.removes_changes || !graph.is_refused() || count == 0) return false;
  return keeping_outputs(model, [&](const auto& changed) {
    Diagnostics found;
    remove_changes_in_place(model, found);
    model.warnings.insert(model.warnings.end(), found.warnings.begin(), found.warnings.end());
    return count_changes(*changed) < count;
  });
}

bool simplify_typed_containers(TypedGraph& graph) {
  const bool may_help = graph.is_whole() ? graph.is_refused() : !graph.is_copy;
  return may_help && keeping_outputs(graph.model, simplify_containers);
}

}  // namespace nnapi_convert
