// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/hidden_changes.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/op_arguments.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

bool is_one_of(const Node& node, const std::set<std::string>& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

bool makes_view(const Node& node) {
  return find_traits(node).memory == Memory::kView;
}

// True if einsum may take only one tensor; with more tensors its result is a new product.
bool takes_one_tensor(const Node& einsum) {
  const Value* tensors = einsum.input(1);
  return tensors->node()->kind() != c10::prim::ListConstruct || tensors->node()->inputs().size() == 1;
}

// True if the tensor is quantised whatever the inputs are: by the operators on the way to it.
bool is_quantised(const Value& tensor) {
  const Node& maker = *tensor.node();
  const Quantised quantised = find_traits(maker).quantised;
  if (quantised == Quantised::kMade || maker.kind().ns().toUnqualString() == std::string("quantized")) {
    return tensor.type()->kind() == c10::TypeKind::TensorType;
  }
  if (maker.kind() == c10::prim::If) {
    const auto blocks = maker.blocks();
    return std::all_of(blocks.begin(), blocks.end(), [&](const torch::jit::Block* block) {
      return is_quantised(*block->outputs()[tensor.offset()]);
    });
  }
  if (maker.kind() == c10::prim::ListConstruct) {
    const auto elements = maker.inputs();
    return !elements.empty() &&
           std::all_of(elements.begin(), elements.end(), [](const Value* element) { return is_quantised(*element); });
  }
  const bool keeps_type = quantised == Quantised::kKept || makes_view(maker) || functional_kind(maker);
  return keeps_type && tensor.offset() == 0 && is_quantised(*maker.input(0));
}

// True for an operator whose schema promises a new tensor, though it may give an argument itself, or a view of it.
bool hides_alias(const Node& node) {
  switch (find_traits(node).memory) {
    case Memory::kBySchema:
    case Memory::kFresh:
    case Memory::kView:
      return false;
    case Memory::kMayBeArgument:
      return true;
    case Memory::kMayBeArgumentUnlessProduct:
      return takes_one_tensor(node);
    case Memory::kMayBeArgumentUnlessQuantised:
      return !is_quantised(*node.input(0));
  }
  return false;
}

bool has_own_memory(const Node& maker) {
  const c10::FunctionSchema* schema = maker.maybeSchema();
  return schema != nullptr && schema->returns().size() == 1 && schema->returns()[0].alias_info() == nullptr &&
         !hides_alias(maker);
}

// True if the use doesn't give the tensor a second name.
bool keeps_name(const Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return false;
  if (schema->arguments()[use.offset].alias_info() == nullptr) return !hides_alias(*use.user);
  return makes_view(*use.user) || (use.offset == 0 && functional_kind(*use.user) && !use.user->hasUses());
}

// True if `value` is all that names its tensor when `node` changes it.
bool has_one_name(const Value& value, const Node& node) {
  const bool is_alone = std::all_of(value.uses().begin(), value.uses().end(), [&](const Use& use) {
    return use.user == &node || keeps_name(use) || use.user->isAfter(&node);
  });
  if (!is_alone || value.node()->owningBlock() != node.owningBlock()) return false;
  const Node& maker = *value.node();
  if (maker.kind() == c10::prim::Param) return maker.owningBlock()->owningNode() == nullptr;
  if (functional_kind(maker)) return has_one_name(*maker.input(0), maker);
  return has_own_memory(maker) || makes_view(maker);
}

void make_view(Node* change) {
  Node* view = change->owningGraph()->create(*kind_without_underscore(*change), change->inputs(), 1);
  view->insertBefore(change);
  view->setSourceRange(change->sourceRange());
  view->setScope(change->scope());
  view->output()->setType(change->output()->type());
  change->input(0)->replaceAllUsesAfterNodeWith(change, view->output());
  change->output()->replaceAllUsesWith(view->output());
  change->destroy();
}

[[noreturn]] void refuse(const Node& node, const std::string& found, const std::string& hint) {
  const std::string where = source_of(node);
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("{}{}{} {}; hint: {}", where, where.empty() ? "" : ": ",
                                                            node.kind().toQualString(), found, hint));
}

void settle_shapes(Graph& graph) {
  std::vector<Node*> changes;
  for_each_node(graph, [&](Node& node) {
    if (changes_shape(node)) changes.push_back(&node);
  });
  for (Node* change : changes) {
    if (kind_without_underscore(*change) && has_one_name(*change->input(0), *change)) make_view(change);
  }
}

bool is_in_loop_with(const Node& node, const Node& other) {
  for (const Node* outer = node.owningBlock()->owningNode(); outer != nullptr;
       outer = outer->owningBlock()->owningNode()) {
    if (outer->kind() != c10::prim::Loop) continue;
    for (const Node* at = &other; at != nullptr; at = at->owningBlock()->owningNode()) {
      if (at == outer) return true;
    }
  }
  return false;
}

// Looks for changes of a tensor, by way of its views and what holds it, that come after a node.
class LaterChanges {
 public:
  explicit LaterChanges(const Node& node) : node_(node) {}

  bool any_of(Value* value) {
    if (!seen_.insert(value).second) return false;
    return std::any_of(value->uses().begin(), value->uses().end(), [&](const Use& use) { return is_changed_by(use); });
  }

 private:
  bool is_changed_by(const Use& use) {
    Node& user = *use.user;
    if (user.kind() == c10::prim::Return) return is_changed_outside(user);
    const c10::FunctionSchema* schema = user.maybeSchema();
    if (schema == nullptr || use.offset >= schema->arguments().size()) return any_of_outputs(user);
    const auto* alias = schema->arguments()[use.offset].alias_info();
    if (alias == nullptr) return hides_alias(user) && &user != &node_ && any_of_outputs(user);
    if (writes_tensors(*alias, *user.input(use.offset)) && (user.isAfter(&node_) || is_in_loop_with(node_, user))) {
      return true;
    }
    return any_of_outputs(user);
  }

  // True if the operator writes to a tensor. Adding an element changes a list, but none of its tensors.
  static bool writes_tensors(const c10::AliasInfo& alias, const Value& argument) {
    if (argument.type()->kind() == c10::TypeKind::TensorType) return alias.isWrite();
    const auto& contained = alias.containedTypes();
    return std::any_of(contained.begin(), contained.end(), [](const c10::AliasInfo& part) { return part.isWrite(); });
  }

  // True if a value that a block returns is changed outside the branch or loop.
  bool is_changed_outside(Node& end) {
    Node* owner = end.owningBlock()->owningNode();
    return owner != nullptr && any_of_outputs(*owner);
  }

  bool any_of_outputs(Node& node) {
    const auto outputs = node.outputs();
    return std::any_of(outputs.begin(), outputs.end(), [&](Value* output) { return any_of(output); });
  }

  const Node& node_;
  std::unordered_set<const Value*> seen_;
};

// True if what the node gives may be its first input, a view of it, or taken out of it.
bool gives_first_input(const Node& node) {
  if (node.inputs().empty() || !node.blocks().empty()) return false;
  if (node.kind() == c10::prim::TupleUnpack || node.kind() == c10::prim::TupleIndex ||
      node.kind() == c10::prim::ListUnpack) {
    return true;
  }
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && !schema->arguments().empty() && schema->arguments()[0].alias_info() != nullptr;
}

// Returns the value whose memory `value` shares, along nodes that return their first input.
Value* whole_of(Value* value) {
  while (gives_first_input(*value->node())) value = value->node()->input(0);
  return value;
}

bool is_changed_later(Node& node, Value* value) {
  Value* whole = whole_of(value);
  LaterChanges changes(node);
  if (changes.any_of(whole)) return true;
  const bool is_container =
      whole->node()->kind() == c10::prim::ListConstruct || whole->node()->kind() == c10::prim::TupleConstruct;
  if (!is_container) return false;
  const auto elements = whole->node()->inputs();
  return std::any_of(elements.begin(), elements.end(), [&](Value* element) { return is_changed_later(node, element); });
}

void refuse_hidden_aliases(Graph& graph) {
  for_each_node(graph, [](Node& node) {
    if (!hides_alias(node)) return;
    const auto inputs = node.inputs(), outputs = node.outputs();
    const auto is_changed = [&](Value* value) { return is_changed_later(node, value); };
    if (std::none_of(inputs.begin(), inputs.end(), is_changed) &&
        std::none_of(outputs.begin(), outputs.end(), is_changed)) {
      return;
    }
    refuse(node, "may give its argument itself, and one of the two is changed in place later",
           "make a new tensor with clone()");
  });
}

// Replaces x.type_as(y) by x.to(y), whose schema says that it may give x itself.
void name_aliases(Graph& graph) {
  std::vector<Node*> casts;
  for_each_node(graph, [&](Node& node) {
    if (is_one_of(node, {"aten::type_as"})) casts.push_back(&node);
  });
  for (Node* cast : casts) {
    torch::jit::WithInsertPoint here(cast);
    Value* result = graph.insert(c10::aten::to, {cast->input(0), cast->input(1)});
    result->node()->setSourceRange(cast->sourceRange());
    result->node()->setScope(cast->scope());
    cast->output()->replaceAllUsesWith(result);
    cast->destroy();
  }
}

bool is_known_true(const Value* value) {
  const auto constant = value == nullptr ? c10::nullopt : torch::jit::toIValue(value);
  return constant && constant->isBool() && constant->toBool();
}

// Returns the running statistics that the node is known to change in training, though its schema promises that it
// doesn't.
std::vector<Value*> changed_statistics(Node& node) {
  if (!is_one_of(node, {"aten::batch_norm", "aten::instance_norm", "aten::native_batch_norm"})) return {};
  if (!is_known_true(input_named(node, "training")) && !is_known_true(input_named(node, "use_input_stats"))) return {};
  std::vector<Value*> changed;
  for (Value* input : node.inputs()) {
    const bool is_statistic = input == input_named(node, "running_mean") || input == input_named(node, "running_var");
    if (is_statistic && !input->mustBeNone()) changed.push_back(input);
  }
  return changed;
}

// Returns the values that are the same tensor because they read the same attribute.
std::vector<Value*> reads_of_tensor(Graph& graph, Value* tensor) {
  if (tensor->node()->kind() != c10::prim::GetAttr) return {tensor};
  std::vector<Value*> reads;
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == c10::prim::GetAttr && attribute_path(node) == attribute_path(*tensor->node())) {
      reads.push_back(node.output());
    }
  });
  return reads;
}

// True if the use may see the tensor as `change` leaves it. A normalisation in training only adds to it.
bool sees_change(const Use& use, const Node& change) {
  const std::vector<Value*> added_to = changed_statistics(*use.user);
  if (std::find(added_to.begin(), added_to.end(), use.user->input(use.offset)) != added_to.end()) return false;
  return use.user->kind() == c10::prim::Return || use.user->isAfter(&change) || is_in_loop_with(change, *use.user);
}

void refuse_changed_statistics(Graph& graph) {
  for_each_node(graph, [&](Node& node) {
    for (Value* statistic : changed_statistics(node)) {
      for (Value* read : reads_of_tensor(graph, statistic)) {
        const auto& uses = read->uses();
        if (std::none_of(uses.begin(), uses.end(), [&](const Use& use) { return sees_change(use, node); })) continue;
        refuse(node, "changes its running statistics in place, which are read later",
               "call model.eval() before tracing, or leave out the running statistics");
      }
    }
  });
}

bool is_tensor_change(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && schema->is_mutable() && !node.inputs().empty();
}

}  // namespace

void settle_hidden_changes(Graph& graph) {
  refuse_changed_statistics(graph);
  bool changes = false;
  for_each_node(graph, [&](const Node& node) { changes = changes || is_tensor_change(node); });
  if (!changes) return;
  name_aliases(graph);
  settle_shapes(graph);
  refuse_hidden_aliases(graph);
}

void separate_copies(Graph& graph) {
  bool changes = false;
  std::vector<Node*> copies;
  for_each_node(graph, [&](Node& node) {
    changes = changes || is_tensor_change(node);
    if (is_one_of(node, {"aten::copy"}) && node.output()->type()->kind() == c10::TypeKind::TensorType) {
      copies.push_back(&node);
    }
  });
  if (!changes) return;
  for (Node* copy : copies) {
    torch::jit::WithInsertPoint after(copy->next());
    Value* own = graph.insert(c10::aten::clone, {copy->output()});
    own->node()->setSourceRange(copy->sourceRange());
    copy->output()->replaceAllUsesAfterNodeWith(own->node(), own);
  }
}

}  // namespace nnapi_convert
