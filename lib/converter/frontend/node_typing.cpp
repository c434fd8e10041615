// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/node_typing.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <utility>

#include "lib/converter/frontend/block_types.h"
#include "lib/converter/frontend/linear_types.h"
#include "lib/converter/frontend/missing_rule.h"
#include "lib/converter/frontend/nested_tensors.h"
#include "lib/converter/frontend/rewrites.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/formulas.h"
#include "lib/ops/registry.h"
#include "lib/ops/tensor_limits.h"

namespace nnapi_convert {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

NodeTyping::NodeTyping(const NormalisedModel& model, const TypeMap& input_types, const InferOptions& options,
                       const StateTypes& state)
    : model_(model),
      keeps_numbers_(options.keeps_numbers),
      is_nnapis_control_flow_(options.control_flow == ControlFlow::kNnapi),
      state_(state) {
  result_.types = input_types;
  for (const Value* input : model.graph->inputs()) {
    if (input_types.count(input) == 0) failed_.insert(input);
  }
}

InferredTypes NodeTyping::result() {
  refuse_pairs();
  refuse_nested();
  if (!keeps_numbers_ && result_.refusals.empty()) refuse_unset_outputs();
  result_.runtime_sizes = runtime_sizes_.sizes();
  return std::move(result_);
}

void NodeTyping::require_shapes() const {
  if (reshaping_) throw ConvertError(*reshaping_);
}

template <typename Values>
void NodeTyping::set_types(const Values& values, const KnownTypes& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i]) {
      result_.types[values[i]] = *types[i];
    } else {
      failed_.insert(values[i]);
    }
  }
}

template <typename Values>
bool NodeTyping::any_failed(const Values& values) const {
  return std::any_of(values.begin(), values.end(), [&](const Value* value) { return failed_.count(value) != 0; });
}

void NodeTyping::failed(const Node& node) {
  for (const Value* output : node.outputs()) failed_.insert(output);
}

void NodeTyping::refused(const Node& node, const Refusal& refusal) {
  result_.refusals.push_back(refusal);
  failed(node);
}

bool NodeTyping::enter(Node& node, const InferTypes& infer_copy) {
  if (is_nnapis_control_flow_) {
    if (any_failed(node.inputs())) {
      failed(node);
      return false;
    }
    if (const auto refusal = begin_control_flow(node, result_.types)) {
      refused(node, *refusal);
      return false;
    }
    refusals_before_.push_back(result_.refusals.size());
  } else if (node.kind() == c10::prim::Loop) {
    set_types(node.blocks()[0]->inputs(), carried_types(node, result_.types, infer_copy));
  }
  return true;
}

void NodeTyping::leave(const Node& node) {
  if (!is_nnapis_control_flow_) {
    const bool is_loop = node.kind() == c10::prim::Loop;
    return set_types(node.outputs(), is_loop ? carried_by(node, result_.types) : branch_types(node, result_.types));
  }
  const auto blocks = node.blocks();
  const bool blocks_failed =
      refusals_before_.back() != result_.refusals.size() ||
      std::any_of(blocks.begin(), blocks.end(), [&](const Block* block) { return any_failed(block->outputs()); });
  refusals_before_.pop_back();
  if (blocks_failed) return failed(node);
  if (const auto refusal = end_control_flow(node, result_.types)) refused(node, *refusal);
}

bool NodeTyping::type(const Node& node) {
  if (node.kind() == c10::prim::Uninitialized) {  // a value that an error leaves unset
    failed(node);
    return true;
  }
  if (is_structural(node)) return true;
  if (node.outputs().size() == 1 && is_nested(*node.output())) {
    failed(node);  // refuse_nested() refuses those that are left
    return true;
  }
  if (const auto types = types_of_held(node, result_.types, state_)) {
    set_types(node.outputs(), *types);
    return true;
  }
  if (node.kind() == c10::prim::ListConstruct) {
    type_list(node);
    return true;
  }
  if (node.kind() == c10::prim::ListUnpack) {
    type_unpack(node);
    return true;
  }
  if (!type_operator(node)) return false;
  if (keeps_numbers_) forget_changed_lists(node);
  return true;
}

void NodeTyping::refuse(const Node& node) {
  result_.refusals.push_back(rules_refusal_ ? *rules_refusal_ : missing_rule(node, result_.types));
  observe(node, rules_refusal_);
  if (keeps_numbers_) forget_changed_lists(node);
}

// Forgets the types of result lists that are changed later: their first elements don't tell the later ones.
void NodeTyping::forget_changed_lists(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output->type()->kind() != c10::TypeKind::ListType || !may_be_changed(*output)) continue;
    result_.types.erase(output);
    failed_.insert(output);
  }
}

namespace {

// True for the type of a tensor without elements, and of a list that has one.
bool has_empty(const ValueType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return is_empty(*tensor);
  const auto* list = std::get_if<TensorTypes>(&type);
  return list != nullptr && std::any_of(list->begin(), list->end(), is_empty);
}

// True if the node reads a list that is changed after it is made: its ListConstruct doesn't show all elements.
bool reads_changed_list(const Node& node) {
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [](const Value* input) {
    return input->node()->kind() == c10::prim::ListConstruct && !is_glue(*input->node());
  });
}

// Refuses tensors with sizes that NNAPI can't have, though TorchScript can.
void require_sizes(const OpArguments& args, const std::vector<ValueType>& types) {
  for (const ValueType& type : types) {
    TensorTypes tensors;
    if (const auto* list = std::get_if<TensorTypes>(&type)) tensors = *list;
    if (const auto* tensor = std::get_if<TensorType>(&type)) tensors = {*tensor};
    for (const TensorType& tensor : tensors) {
      args.require(!is_empty(tensor), "a result " + to_text(tensor), "sizes of 1 or more");
      const std::string problem = excess(tensor);
      args.require(problem.empty(), problem, "what NNAPI can address");
    }
  }
}

}  // namespace

// Types a node with sizes that depend on values in a graph that TorchScript runs. Rules must not take such sizes to be
// equal.
bool NodeTyping::type_open_sizes(const Node& node) {
  if (!keeps_numbers_ || (!has_sizes_of_values(node, result_.types) && !any_failed(node.inputs()))) return false;
  const auto types = reads_changed_list(node) ? std::nullopt : runtime_sizes_.types_of(node, result_.types);
  if (!types) {
    failed(node);
  } else {
    for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
  }
  return true;
}

bool NodeTyping::type_operator(const Node& node) {
  if (type_open_sizes(node)) return true;
  const bool reads_failed = needs_failed(node) || (!keeps_numbers_ && reads_changed_list(node));
  const OpRule* rule = find_typed_rule(node, result_.types);
  if (reads_failed) {
    if (rule == nullptr) result_.refusals.push_back(missing_rule(node, result_.types));
    failed(node);
    return true;
  }
  rules_refusal_ = rule == nullptr ? std::nullopt : type_by_rule(node, *rule);
  return rule != nullptr && !rules_refusal_;
}

// Sets the types of the node's results by its rule, or returns why the rule refuses the node.
std::optional<Refusal> NodeTyping::type_by_rule(const Node& node, const OpRule& rule) {
  try {
    const OpArguments args(node, result_.types);
    std::vector<ValueType> types = rule.shape(args);
    NNC_ASSERT(types.size() == node.outputs().size(), node.kind().toQualString());
    if (!keeps_numbers_) require_sizes(args, types);
    for (size_t i = 0; i < types.size(); ++i) result_.types[node.output(i)] = std::move(types[i]);
    return std::nullopt;
  } catch (const NodeRefused& error) {
    return error.refusal();
  } catch (const ConvertError& error) {  // sizes beyond int64
    return Refusal{source_of(node), node.kind().toQualString(), error.what(), "", ""};
  }
}

bool NodeTyping::needs_failed(const Node& node) const {
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), [&](const Value* input) {
    return failed_.count(input) != 0 && !(keeps_numbers_ && takes_any_number(node, *input));
  });
}

// Observes the types of a refused node's results: the node stays on the CPU, but later nodes may run on NNAPI.
void NodeTyping::observe(const Node& node, const std::optional<Refusal>& refusal) {
  if (!reshaping_ && reshapes_argument(node, result_.types)) {
    reshaping_.emplace(ExitCode::kNotConvertible,
                       source_of(node) + ": " + node.kind().toQualString() +
                           " may change the shape of a tensor in place; needed: a new tensor of that shape");
  }
  std::string error;
  auto types = reads_open_size(node, result_.types) ? types_by_trials(node, result_.types)
                                                    : observed_types(node, result_.types, error);
  // In a graph for NNAPI alone, each node that reads an empty tensor would be refused besides the one that makes it.
  if (types && !keeps_numbers_ && std::any_of(types->begin(), types->end(), has_empty)) types.reset();
  const bool always_runs = node.owningBlock() == model_.graph->block();
  if (!error.empty() && always_runs && !may_fail_by_values(node, result_.types)) {
    result_.failures.push_back(
        refusal.value_or(Refusal{source_of(node), node.kind().toQualString(), "it raises an error", "", ""}));
  }
  if (types) {
    for (size_t i = 0; i < types->size(); ++i) result_.types[node.output(i)] = (*types)[i];
    return;
  }
  const TensorType* self = node.inputs().empty() ? nullptr : tensor_type_of(node.input(0), result_.types);
  if (self == nullptr || error.empty() || find_traits(node).sizes != ResultSizes::kLikeSelf) return failed(node);
  const TensorType same = *self;  // inserting moves the map's elements
  result_.types[node.output()] = same;
}

// Types a list of sizes. Rules read the elements of a list of tensors in place.
void NodeTyping::type_list(const Node& node) {
  const auto inputs = node.inputs();
  if (any_failed(inputs) || (keeps_numbers_ && !is_glue(node))) return failed(node);
  if (node.output()->type()->cast<c10::ListType>()->getElementType()->kind() != c10::TypeKind::IntType) return;
  Dims sizes;
  for (const Value* input : inputs) {
    if (const auto constant = torch::jit::toIValue(input)) {
      sizes.emplace_back(constant->toInt());
      continue;
    }
    const auto found = result_.types.find(input);
    const Dims* size = found == result_.types.end() ? nullptr : std::get_if<Dims>(&found->second);
    if (size == nullptr || size->size() != 1) {
      return refused(node, {source_of(node), node.kind().toQualString(),
                            "the size %" + input->debugName() + " depends on the values of a tensor",
                            "sizes computed from the inputs' sizes alone", ""});
    }
    sizes.push_back((*size)[0]);
  }
  result_.types[node.output()] = std::move(sizes);
}

// Types the elements that a ListUnpack takes from a list: sizes, or tensors that a rule has typed one by one.
void NodeTyping::type_unpack(const Node& node) {
  if (failed_.count(node.input())) return failed(node);
  const auto found = result_.types.find(node.input());
  const size_t count = node.outputs().size();
  std::vector<ValueType> elements;
  if (found != result_.types.end()) {
    if (const auto* tensors = std::get_if<TensorTypes>(&found->second)) {
      elements.assign(tensors->begin(), tensors->end());
    } else if (const auto* sizes = std::get_if<Dims>(&found->second)) {
      for (const Dim& size : *sizes) elements.emplace_back(Dims{size});
    }
  }
  if (elements.size() != count) {
    result_.refusals.push_back(missing_rule(node, result_.types));
    return failed(node);
  }
  for (size_t i = 0; i < count; ++i) result_.types[node.output(i)] = std::move(elements[i]);
}

// Refuses nodes that join the parts of complex numbers, if another node than forward's return reads the whole.
void NodeTyping::refuse_pairs() {
  for_each_node(*model_.graph, [&](const Node& node) {
    if (node.outputs().size() != 1 || !is_pair(*node.output()) || !is_needed(model_, *node.output())) return;
    result_.refusals.push_back({source_of(node), node.kind().toQualString(), "complex numbers", "real ones",
                                "NNAPI has no complex operands: use the parts, as by view_as_real, abs or angle"});
  });
}

// Refuses nested tensors that another node than those that padded_form() replaces reads.
void NodeTyping::refuse_nested() {
  for_each_node(*model_.graph, [&](const Node& node) {
    if (node.outputs().size() != 1 || !is_nested(*node.output()) || !is_needed(model_, *node.output())) return;
    result_.refusals.push_back(missing_rule(node, result_.types));
  });
}

void NodeTyping::refuse_unset_outputs() {
  for (const Value* output : model_.outputs) {
    if (failed_.count(output) == 0) continue;
    result_.refusals.push_back({source_of(*output->node()), output->node()->kind().toQualString(),
                                "forward gives %" + output->debugName() + ", which an error before it leaves unset",
                                "a model that runs with these inputs", "check the sizes given by --input"});
  }
}

}  // namespace nnapi_convert
