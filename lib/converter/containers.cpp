#include "lib/converter/containers.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/peephole_list_idioms.h>
#include <torch/csrc/jit/passes/remove_mutation.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/node_reads.h"
#include "lib/converter/segment.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr int kMostRounds = 8;  // of all passes; each takes a level of nesting away

bool is_kind(const Node& node, const char* kind) {
  return std::string(node.kind().toQualString()) == kind;
}

std::optional<std::string> constant_key(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isString() ? std::optional(constant->toStringRef()) : std::nullopt;
}

// The node of the container's own block that `user` is, or is in.
Node* at_level_of(const Node& container, Node* user) {
  while (user->owningBlock() != container.owningBlock()) user = user->owningBlock()->owningNode();
  return user;
}

// The node of the container's own block that uses it first, itself or in its blocks; null if there is none.
Node* first_use(Node& container) {
  Node* first = nullptr;
  for (const torch::jit::Use& use : container.output()->uses()) {
    Node* user = at_level_of(container, use.user);
    if (first == nullptr || user->isBefore(first)) first = user;
  }
  return first;
}

// The value of a key in a dict under construction; the size of `inputs` if it isn't there.
size_t position_of(const std::vector<Value*>& inputs, const std::string& key) {
  for (size_t i = 0; i < inputs.size(); i += 2) {
    if (constant_key(inputs[i]) == key) return i + 1;
  }
  return inputs.size();
}

bool has_constant_keys(const Node& dict) {
  for (size_t i = 0; i < dict.inputs().size(); i += 2) {
    if (!constant_key(dict.input(i))) return false;
  }
  return true;
}

// A dict whose first use is to take an element: it is made there, with the element.
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

// What is asked of a dict that nothing changes.
bool read_dict(Node* node) {
  if (node->inputs().empty() || node->outputs().size() != 1) return false;
  Node* dict = node->input(0)->node();
  if (dict->kind() != c10::prim::DictConstruct || !is_glue(*dict) || !has_constant_keys(*dict)) return false;
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
  } else if (is_kind(*node, "aten::__getitem__") && key && by_key.count(*key) != 0) {
    replace_node(node, by_key[*key]);
  } else {
    return false;
  }
  return true;
}

// list(x) of a list that nothing changes is another such list.
bool copy_list(Node* node) {
  if (!is_kind(*node, "aten::list") || node->inputs().size() != 1) return false;
  const Node* list = node->input()->node();
  const auto type = node->output()->type()->cast<c10::ListType>();
  if (list->kind() != c10::prim::ListConstruct || !is_glue(*list) || !type) return false;
  std::vector<Value*> elements;
  for (const Value* input : list->inputs()) elements.push_back(const_cast<Value*>(input));
  replace_node(node, insert_list(node, elements, type->getElementType()));
  return true;
}

std::optional<size_t> constant_index(const Value* value, size_t size) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant || !constant->isInt()) return std::nullopt;
  const int64_t count = static_cast<int64_t>(size);
  const int64_t index = constant->toInt() < 0 ? constant->toInt() + count : constant->toInt();
  return index >= 0 && index < count ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

// Uses that change at most an element of the list, and don't hand it on.
bool keeps_length(const torch::jit::Use& use) {
  const Node& user = *use.user;
  const c10::FunctionSchema* schema = user.maybeSchema();
  const bool is_argument = schema != nullptr && use.offset < schema->arguments().size();
  if (is_argument && schema->arguments()[use.offset].alias_info() == nullptr) return true;
  return use.offset == 0 && (is_kind(user, "aten::__getitem__") || user.kind() == c10::prim::ListUnpack ||
                             is_kind(user, "aten::_set_item"));
}

// What is asked of a list of tensors whose elements may be exchanged: its length, or an element before any is.
bool read_list(Node* node) {
  const bool is_length = is_kind(*node, "aten::len");
  if (!is_length && !is_kind(*node, "aten::__getitem__")) return false;
  Node* list = node->input(0)->node();
  if (list->kind() != c10::prim::ListConstruct) return false;
  const auto& uses = list->output()->uses();
  if (!std::all_of(uses.begin(), uses.end(), keeps_length)) return false;
  if (is_length) {
    torch::jit::WithInsertPoint here(node);
    replace_node(node, node->owningGraph()->insertConstant(static_cast<int64_t>(list->inputs().size())));
    return true;
  }
  const auto index = constant_index(node->input(1), list->inputs().size());
  const Node* read = at_level_of(*list, node);
  const bool is_first = std::all_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
    return !is_kind(*use.user, "aten::_set_item") || read->isBefore(at_level_of(*list, use.user));
  });
  if (!index || !is_first) return false;
  replace_node(node, list->input(*index));
  return true;
}

// A list whose first use is to exchange an element: it is made there, with the new one.
bool make_with_exchanged(Node* list) {
  Node* use = first_use(*list);
  if (use == nullptr || !is_kind(*use, "aten::_set_item") || use->input(0) != list->output()) return false;
  const auto index = constant_index(use->input(1), list->inputs().size());
  if (!index || use->input(2) == list->output()) return false;
  list->moveBefore(use);
  list->replaceInput(*index, use->input(2));
  use->destroy();
  return true;
}

// An object whose attributes are all set once, before anything reads them, is not made.
bool take_object_apart(Node* object) {
  std::map<std::string, Node*> sets;
  std::vector<Node*> gets;
  for (const torch::jit::Use& use : object->output()->uses()) {
    Node* user = use.user;
    if (user->kind() == c10::prim::SetAttr && use.offset == 0 && user->owningBlock() == object->owningBlock()) {
      if (!sets.emplace(user->s(c10::attr::name), user).second) return false;
    } else if (user->kind() == c10::prim::GetAttr) {
      gets.push_back(user);
    } else {
      return false;
    }
  }
  for (Node* get : gets) {
    const auto set = sets.find(get->s(c10::attr::name));
    if (set == sets.end() || !set->second->isBefore(at_level_of(*object, get))) return false;
  }
  for (Node* get : gets) replace_node(get, sets[get->s(c10::attr::name)]->input(1));
  for (const auto& [name, set] : sets) set->destroy();
  return true;
}

// Objects that are made in a block: a node that is destroyed here is never the one that a caller stands at.
bool take_objects_apart(Block* block) {
  std::vector<Node*> objects;
  for (Node* node : block->nodes()) {
    if (node->kind() == c10::prim::CreateObject) objects.push_back(node);
  }
  bool changed = false;
  for (Node* object : objects) {
    if (!take_object_apart(object)) continue;
    object->destroy();
    changed = true;
  }
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) changed = take_objects_apart(inner) || changed;
  }
  return changed;
}

// A type that was found to be narrower is narrow already.
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
      // Moves behind what `it` stands at, at most: it is met again then.
      changed = (is_dict ? make_with_element(node) : make_with_exchanged(node)) || changed;
      it = std::next(node->iterator());
    } else {
      changed = read_dict(node) || read_list(node) || copy_list(node) || drop_cast(node) || changed;
    }
  }
  return changed;
}

size_t number_of_nodes(Graph& graph) {
  size_t count = 0;
  for (Node* node : graph.nodes()) for_each_node(*node, [&](const Node&) { ++count; });
  return count;
}

}  // namespace

bool simplify_containers(std::shared_ptr<Graph>& graph) {
  bool any = false;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t nodes = number_of_nodes(*graph);
    bool changed = take_objects_apart(graph->block());
    changed = rewrite(graph->block()) || changed;
    // These say that they changed something again each time they meet what they left without a use.
    torch::jit::PeepholeOptimizeListIdioms(graph, false);
    torch::jit::ConstantPropagationImmutableTypes(graph);
    torch::jit::PeepholeOptimize(graph);
    torch::jit::LowerSimpleTuples(graph);
    changed = torch::jit::UnrollConstantLoops(graph) || changed;
    changed = torch::jit::RemoveListMutation(graph) || changed;
    torch::jit::EliminateDeadCode(graph);
    changed = changed || number_of_nodes(*graph) != nodes;
    if (!changed) break;
    any = true;
  }
  return any;
}

}  // namespace nnapi_convert
