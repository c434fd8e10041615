// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/containers.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/peephole_list_idioms.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/converter/frontend/changed_lists.h"
#include "lib/converter/frontend/objects_apart.h"
#include "lib/converter/frontend/unroll_loops.h"
#include "lib/converter/graph/element_writes.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr int kMostRounds = 8;  // rounds of all passes; each takes a level of nesting away

bool is_kind(const Node& node, const char* kind) {
  return std::string(node.kind().toQualString()) == kind;
}

// Returns a constant key as text: the keys of one dict are of one type. Nothing for other keys.
std::optional<std::string> constant_key(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && is_named_key(*constant->type()) ? std::optional(key_text(*constant)) : std::nullopt;
}

// Returns the first node of the container's block that uses it, itself or in its blocks; null if there is none.
Node* first_use(Node& container) {
  Node* first = nullptr;
  for (const torch::jit::Use& use : container.output()->uses()) {
    Node* user = at_level_of(container, use.user);
    if (first == nullptr || user->isBefore(first)) first = user;
  }
  return first;
}

// Returns the place of a key's value in a dict under construction, the last if the key is there twice; the size of
// `inputs` if it isn't there.
size_t position_of(const std::vector<Value*>& inputs, const std::string& key) {
  for (size_t i = inputs.size(); i > 0; i -= 2) {
    if (constant_key(inputs[i - 2]) == key) return i - 1;
  }
  return inputs.size();
}

bool has_constant_keys(const Node& dict) {
  for (size_t i = 0; i < dict.inputs().size(); i += 2) {
    if (!constant_key(dict.input(i))) return false;
  }
  return true;
}

// Handles a dict whose first use adds an element: makes the dict there, with the element.
bool make_with_element(Node* dict) {
  Node* use = first_use(*dict);
  if (use == nullptr || !is_kind(*use, "aten::_set_item") || use->input(0) != dict->output()) return false;
  const auto key = constant_key(use->input(1));
  if (!key || use->input(2) == dict->output() || !has_constant_keys(*dict)) return false;
  std::vector<Value*> inputs(dict->inputs().begin(), dict->inputs().end());
  const size_t position = position_of(inputs, *key);
  if (position < inputs.size()) {
    inputs[position] = use->input(2);
  } else {
    inputs.insert(inputs.end(), {use->input(1), use->input(2)});
  }
  dict->moveBefore(use);
  dict->removeAllInputs();
  for (Value* input : inputs) dict->addInput(input);
  use->destroy();
  return true;
}

void replace_node(Node* node, Value* result) {
  node->output()->replaceAllUsesWith(result);
  node->destroy();
}

Value* insert_list(Node* before, const std::vector<Value*>& elements, const c10::TypePtr& type) {
  Graph& graph = *before->owningGraph();
  Node* list = graph.createList(type, elements);
  list->insertBefore(before);
  list->setSourceRange(before->sourceRange());
  return list->output();
}

// True for uses that only read the length and elements of a list or dict.
bool keeps_elements(const torch::jit::Use& use) {
  const Node& user = *use.user;
  const c10::FunctionSchema* schema = user.maybeSchema();
  const bool is_argument = schema != nullptr && use.offset < schema->arguments().size();
  if (is_argument && schema->arguments()[use.offset].alias_info() == nullptr) return true;
  return use.offset == 0 && (is_kind(user, "aten::__getitem__") || user.kind() == c10::prim::ListUnpack);
}

// True for uses that change elements of the list at most, and don't pass the list on.
bool keeps_length(const torch::jit::Use& use) {
  return keeps_elements(use) || (use.offset == 0 && is_kind(*use.user, "aten::_set_item") && !use.user->hasUses());
}

// True if all uses of a list or dict before `read` are harmless.
bool is_read_first(const Node& container, Node* read, bool (*is_harmless)(const torch::jit::Use&)) {
  const auto& uses = container.output()->uses();
  const Node* at = at_level_of(container, read);
  return std::all_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
    return is_harmless(use) || at->isBefore(at_level_of(container, use.user));
  });
}

// True for uses that leave the elements known: reads, and changes that make_with_change() and make_with_element()
// handle.
bool can_follow(const torch::jit::Use& use, const Node& container) {
  static const std::set<std::string> changes = {"aten::append", "aten::extend", "aten::insert", "aten::_set_item",
                                                "aten::pop"};
  const bool is_change = use.offset == 0 && changes.count(use.user->kind().toQualString()) != 0;
  return keeps_elements(use) || (is_change && use.user->owningBlock() == container.owningBlock());
}

// True if the element may be read at once. If its list or dict can't be taken apart, LibTorch sees only by way of that
// container that changes of the element aren't dead.
bool may_take_element(const Node& container, const Node& read) {
  if (is_glue(container) || !may_be_written(*read.output())) return true;
  const auto& uses = container.output()->uses();
  return std::all_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) { return can_follow(use, container); });
}

// Replaces a node that reads a dict before the dict changes. True if the node is gone.
bool read_dict(Node* node) {
  if (node->inputs().empty() || node->outputs().size() != 1) return false;
  Node* dict = node->input(0)->node();
  if (dict->kind() != c10::prim::DictConstruct || !has_constant_keys(*dict)) return false;
  if (!is_glue(*dict) && !is_read_first(*dict, node, keeps_elements)) return false;
  std::vector<Value*> keys, values;
  std::map<std::string, Value*> by_key;
  for (size_t i = 0; i < dict->inputs().size(); i += 2) {
    keys.push_back(dict->input(i));
    values.push_back(dict->input(i + 1));
    by_key[*constant_key(keys.back())] = values.back();
  }
  if (by_key.size() != keys.size()) return false;
  torch::jit::WithInsertPoint here(node);
  const auto key = node->inputs().size() > 1 ? constant_key(node->input(1)) : std::nullopt;
  const auto element = node->output()->type()->cast<c10::ListType>();
  if (is_kind(*node, "aten::len")) {
    replace_node(node, node->owningGraph()->insertConstant(static_cast<int64_t>(keys.size())));
  } else if (is_kind(*node, "aten::keys") && element) {
    replace_node(node, insert_list(node, keys, element->getElementType()));
  } else if (is_kind(*node, "aten::values") && element) {
    replace_node(node, insert_list(node, values, element->getElementType()));
  } else if (is_kind(*node, "aten::items") && element) {
    std::vector<Value*> pairs;
    for (size_t i = 0; i < keys.size(); ++i) {
      pairs.push_back(
          node->owningGraph()->insertNode(node->owningGraph()->createTuple({keys[i], values[i]}))->output());
    }
    replace_node(node, insert_list(node, pairs, element->getElementType()));
  } else if (is_kind(*node, "aten::__contains__") && key) {
    replace_node(node, node->owningGraph()->insertConstant(by_key.count(*key) != 0));
  } else if (is_kind(*node, "aten::__getitem__") && key && by_key.count(*key) != 0 && may_take_element(*dict, *node)) {
    replace_node(node, by_key[*key]);
  } else {
    return false;
  }
  return true;
}

// Replaces dict() of nothing, or of pairs that a list holds, by a dict under construction. True if the node is gone.
bool make_dict(Node* node) {
  if (!is_kind(*node, "aten::dict") || node->inputs().size() > 1) return false;
  const auto type = node->output()->type()->expect<c10::DictType>();
  std::vector<Value*> keys, values;
  if (!node->inputs().empty()) {
    const Node* pairs = node->input()->node();
    if (pairs->kind() != c10::prim::ListConstruct || !is_glue(*pairs)) return false;
    for (const Value* pair : pairs->inputs()) {
      if (pair->node()->kind() != c10::prim::TupleConstruct) return false;
      keys.push_back(const_cast<Node*>(pair->node())->input(0));
      values.push_back(const_cast<Node*>(pair->node())->input(1));
    }
  }
  Graph& graph = *node->owningGraph();
  Node* dict = graph.createDict(type->getKeyType(), type->getValueType(), keys, values);
  dict->insertBefore(node);
  dict->setSourceRange(node->sourceRange());
  replace_node(node, dict->output());
  return true;
}

std::optional<size_t> constant_index(const Value* value, size_t size) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !constant->isInt()) return std::nullopt;
  const int64_t count = static_cast<int64_t>(size);
  const int64_t index = constant->toInt() < 0 ? constant->toInt() + count : constant->toInt();
  return index >= 0 && index < count ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

// Replaces a node that reads the length or an element of a list before the list changes. True if the node is gone.
bool read_list(Node* node) {
  const bool is_length = is_kind(*node, "aten::len");
  if (!is_length && !is_kind(*node, "aten::__getitem__")) return false;
  Node* list = node->input(0)->node();
  if (list->kind() != c10::prim::ListConstruct) return false;
  if (!is_read_first(*list, node, is_length ? keeps_length : keeps_elements)) return false;
  if (is_length) {
    torch::jit::WithInsertPoint here(node);
    replace_node(node, node->owningGraph()->insertConstant(static_cast<int64_t>(list->inputs().size())));
    return true;
  }
  const auto index = constant_index(node->input(1), list->inputs().size());
  if (!index || !may_take_element(*list, *node)) return false;
  replace_node(node, list->input(*index));
  return true;
}

// Returns the elements that the list has when `reader` reads it, if they are known.
std::optional<std::vector<Value*>> elements_of(Value* list, Node* reader) {
  std::vector<Value*> elements;
  if (list->node()->kind() == c10::prim::ListConstruct) {
    if (!is_read_first(*list->node(), reader, keeps_elements)) return std::nullopt;
    elements.assign(list->node()->inputs().begin(), list->node()->inputs().end());
    return elements;
  }
  const auto constant = torch::jit::toIValue(list);
  if (!constant || !constant->isList()) return std::nullopt;
  torch::jit::WithInsertPoint here(reader);
  for (const c10::IValue& element : constant->toListRef()) {
    elements.push_back(reader->owningGraph()->insertConstant(element));
  }
  return elements;
}

// Replaces x.copy() of a list by list(x), and list(x) by a new list of the same elements.
bool copy_list(Node* node) {
  const bool is_method = is_kind(*node, "aten::copy");
  if ((!is_method && !is_kind(*node, "aten::list")) || node->inputs().size() != 1) return false;
  const auto type = node->output()->type()->cast<c10::ListType>();
  const auto elements = type ? elements_of(node->input(), node) : std::nullopt;
  if (!elements && !(type && is_method)) return false;
  torch::jit::WithInsertPoint here(node);
  replace_node(node, elements ? insert_list(node, *elements, type->getElementType())
                              : node->owningGraph()->insert(c10::aten::list, {node->input()}));
  return true;
}

// Replaces prim::min or prim::max of a list of known numbers.
bool read_extreme(Node* node) {
  const bool is_least = is_kind(*node, "prim::min");
  if ((!is_least && !is_kind(*node, "prim::max")) || node->inputs().size() != 1) return false;
  if (node->output()->type()->kind() != c10::TypeKind::IntType) return false;
  const auto elements = elements_of(node->input(), node);
  if (!elements || elements->empty()) return false;
  std::vector<int64_t> numbers;
  for (const Value* element : *elements) {
    const auto number = torch::jit::toIValue(element);
    if (!number) return false;
    numbers.push_back(number->toInt());
  }
  const auto [least, largest] = std::minmax_element(numbers.begin(), numbers.end());
  torch::jit::WithInsertPoint here(node);
  replace_node(node, node->owningGraph()->insertConstant(is_least ? *least : *largest));
  return true;
}

// Returns the elements that a list under construction has after `change`, if they are known.
std::optional<std::vector<Value*>> elements_after(Node* list, Node* change) {
  std::vector<Value*> elements(list->inputs().begin(), list->inputs().end());
  const int64_t count = static_cast<int64_t>(elements.size());
  if (is_kind(*change, "aten::append")) {
    elements.push_back(change->input(1));
  } else if (is_kind(*change, "aten::extend")) {
    const auto more = elements_of(change->input(1), change);
    if (!more) return std::nullopt;
    elements.insert(elements.end(), more->begin(), more->end());
  } else if (is_kind(*change, "aten::_set_item")) {
    const auto index = constant_index(change->input(1), elements.size());
    if (!index) return std::nullopt;
    elements[*index] = change->input(2);
  } else if (is_kind(*change, "aten::insert")) {
    const auto index = torch::jit::toIValue(change->input(1));
    if (!index) return std::nullopt;
    const int64_t position = index->toInt() < 0 ? index->toInt() + count : index->toInt();
    elements.insert(elements.begin() + std::clamp<int64_t>(position, 0, count), change->input(2));
  } else {
    return std::nullopt;
  }
  return elements;
}

void set_elements(Node* list, const std::vector<Value*>& elements) {
  list->removeAllInputs();
  for (Value* element : elements) list->addInput(element);
}

// Handles a list whose first use is to take an element out of it: makes the list there, without the element.
bool make_without_popped(Node* list) {
  Node* use = first_use(*list);
  if (use == nullptr || !is_kind(*use, "aten::pop") || use->inputs().size() != 2) return false;
  std::vector<Value*> elements(list->inputs().begin(), list->inputs().end());
  const auto index = constant_index(use->input(1), elements.size());
  if (!index) return false;
  use->output()->replaceAllUsesWith(elements[*index]);
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(*index));
  list->moveBefore(use);
  set_elements(list, elements);
  use->destroy();
  return true;
}

// Handles a list whose first use is to change its elements: makes the list there, with the new ones.
bool make_with_change(Node* list) {
  if (make_without_popped(list)) return true;
  Node* use = first_use(*list);
  if (use == nullptr || use->inputs().size() < 2 || use->input(0) != list->output()) return false;
  const auto inputs = use->inputs();
  if (std::count(inputs.begin(), inputs.end(), list->output()) != 1) return false;
  const auto elements = elements_after(list, use);
  if (!elements) return false;
  list->moveBefore(use);
  set_elements(list, *elements);
  for (Value* output : use->outputs()) output->replaceAllUsesWith(list->output());
  use->destroy();
  return true;
}

// Drops a cast to a narrower type if the input is known to be of that type already.
bool drop_cast(Node* node) {
  const bool is_cast = node->kind() == c10::prim::unchecked_cast || is_kind(*node, "aten::_unwrap_optional");
  if (!is_cast || !node->input()->type()->isSubtypeOf(*node->output()->type())) return false;
  replace_node(node, node->input());
  return true;
}

bool rewrite(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) changed = rewrite(inner) || changed;
    if (node->kind() == c10::prim::DictConstruct || node->kind() == c10::prim::ListConstruct) {
      const bool is_dict = node->kind() == c10::prim::DictConstruct;
      // Each call takes one change of a container out of the graph.
      while (is_dict ? make_with_element(node) : make_with_change(node)) changed = true;
      if (!is_dict && part_before_change(node)) changed = true;
      it = std::next(node->iterator());
    } else {
      changed = make_dict(node) || read_dict(node) || read_list(node) || read_extreme(node) || copy_list(node) ||
                drop_cast(node) || changed;
    }
  }
  return changed;
}

size_t number_of_nodes(Graph& graph) {
  size_t count = 0;
  for_each_node(graph, [&](const Node&) { ++count; });
  return count;
}

}  // namespace

bool simplify_containers(std::shared_ptr<Graph>& graph) {
  bool any = false, is_unrolled = true;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t nodes = number_of_nodes(*graph);
    bool changed = take_objects_apart(graph->block());
    changed = rewrite(graph->block()) || changed;
    // LibTorch's passes find nothing more in a graph that they have left and that hasn't changed since.
    if (!changed && !is_unrolled) break;
    separate_glue(*graph);
    // Their own reports of changes aren't used: they report one each time they meet nodes that they left without a use.
    torch::jit::PeepholeOptimizeListIdioms(graph, false);
    separate_glue(*graph);
    torch::jit::ConstantPropagationImmutableTypes(graph);
    torch::jit::PeepholeOptimize(graph);
    torch::jit::LowerSimpleTuples(graph);
    is_unrolled = unroll_loops(graph);
    torch::jit::EliminateDeadCode(graph);
    any = any || changed || is_unrolled || number_of_nodes(*graph) != nodes;
  }
  return any;
}

}  // namespace nnapi_convert
