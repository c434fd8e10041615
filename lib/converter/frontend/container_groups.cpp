// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/container_groups.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <utility>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// True for a value that no node of the graph has made.
bool is_given(const Value& value) {
  return value.node()->kind() == c10::prim::Constant || value.node()->kind() == c10::prim::GetAttr ||
         value.node() == value.owningGraph()->param_node();
}

// True if the operator changes the argument in place.
bool changes(const Node& node, size_t argument) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || argument >= schema->arguments().size()) return false;
  const auto* alias = schema->arguments()[argument].alias_info();
  return alias != nullptr && alias->isWrite();
}

// True for a tuple that is only put together to be returned: nothing takes its elements out again.
bool is_only_returned(const Node& node) {
  if (node.kind() != c10::prim::TupleConstruct) return false;
  const auto& uses = node.output()->uses();
  return std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    const bool ends = use.user->kind() == c10::prim::Return && use.user->owningBlock()->owningNode() == nullptr;
    return ends || is_only_returned(*use.user);
  });
}

std::optional<std::string> constant_string(const Value& value) {
  const auto constant = torch::jit::toIValue(&value);
  return constant && constant->isString() ? std::optional(constant->toStringRef()) : std::nullopt;
}

// Returns the constant key under which the node puts the input into a dict.
std::optional<std::string> key_of_input(const Node& node, size_t input) {
  if (node.kind() == c10::aten::_set_item && input == 2) return constant_string(*node.input(1));
  return node.kind() == c10::prim::DictConstruct && input % 2 == 1 ? constant_string(*node.input(input - 1))
                                                                   : std::nullopt;
}

// Returns the arguments whose memory the result may be; all of an operator without a schema.
std::vector<const Value*> aliased_arguments(const Node& node, size_t output) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto inputs = node.inputs();
  if (schema == nullptr || output >= schema->returns().size()) return {inputs.begin(), inputs.end()};
  const auto* result = schema->returns()[output].alias_info();
  std::vector<const Value*> arguments;
  for (size_t i = 0; i < schema->arguments().size() && result != nullptr; ++i) {
    const auto* argument = schema->arguments()[i].alias_info();
    const bool may_be_result = argument != nullptr && (argument->isWildcardBefore() || result->isWildcardAfter() ||
                                                       argument->beforeSets() == result->beforeSets());
    if (may_be_result) arguments.push_back(node.input(i));
  }
  return arguments;
}

}  // namespace

bool is_plain_tensor(const Value& value) {
  return value.type()->kind() == c10::TypeKind::TensorType;
}

bool is_container_of_tensors(const Value& value) {
  const auto holds = [](const auto& self, const c10::TypePtr& type) -> bool {
    if (type->kind() == c10::TypeKind::TensorType) return true;
    if (type->kind() == c10::TypeKind::ClassType) return false;
    const auto contained = type->containedTypes();
    return std::any_of(contained.begin(), contained.end(), [&](const auto& part) { return self(self, part); });
  };
  return !is_plain_tensor(value) && holds(holds, value.type());
}

bool has_tensors(const Value& value) {
  return is_plain_tensor(value) || is_container_of_tensors(value);
}

std::vector<const Value*> flowing_into(const Value& value) {
  const Node& node = *value.node();
  const auto of_loop = [](const Node& loop, size_t carried) {
    return std::vector<const Value*>{loop.input(carried + 2), loop.blocks()[0]->outputs()[carried + 1]};
  };
  if (node.kind() == c10::prim::Loop) return of_loop(node, value.offset());
  if (node.kind() == c10::prim::If) {
    return {node.blocks()[0]->outputs()[value.offset()], node.blocks()[1]->outputs()[value.offset()]};
  }
  const Node* owner = node.kind() == c10::prim::Param ? node.owningBlock()->owningNode() : nullptr;
  if (owner == nullptr || owner->kind() != c10::prim::Loop || value.offset() == 0) return {};
  return of_loop(*owner, value.offset() - 1);
}

ContainerGroups::ContainerGroups(Graph& graph) {
  for (const Value* argument : graph.inputs()) {
    if (is_container_of_tensors(*argument)) put({argument, {}}, argument);
  }
  for_each_node(graph, [&](const Node& node) { add_node(node); });
}

const Value* ContainerGroups::root_of(const Value* container) {
  const Value* parent = parents_.emplace(container, container).first->second;
  if (parent == container) return container;
  return parents_[container] = root_of(parent);
}

// Joins the value's group to the container's, or adds a tensor to it.
void ContainerGroups::put(Content content, const Value* container) {
  const Value* value = content.value;
  Group& into = group_of(container);
  if (is_plain_tensor(*value) || is_given(*value)) into.contents.push_back(std::move(content));
  const Value* root = is_container_of_tensors(*value) ? root_of(value) : nullptr;
  if (root == nullptr || root == root_of(container)) return;
  const Group joined = std::move(groups_[root]);
  Group& group = group_of(container);  // again: a new group may move the others
  group.contents.insert(group.contents.end(), joined.contents.begin(), joined.contents.end());
  group.is_changed = group.is_changed || joined.is_changed;
  groups_.erase(root);
  parents_[root] = root_of(container);
}

void ContainerGroups::add_flow(Content from, const Value* into) {
  if (is_container_of_tensors(*into) && has_tensors(*from.value)) put(std::move(from), into);
}

void ContainerGroups::add_node(const Node& node) {
  if (is_only_returned(node)) return;
  for (const Block* block : node.blocks()) {
    for (const Value* parameter : block->inputs()) {
      for (const Value* from : flowing_into(*parameter)) add_flow({from, {}}, parameter);
    }
  }
  std::vector<const Value*> containers;
  for (const Value* output : node.outputs()) {
    if (is_container_of_tensors(*output)) containers.push_back(output);
  }
  if (!node.blocks().empty()) {
    for (const Value* output : containers) {
      for (const Value* from : flowing_into(*output)) add_flow({from, {}}, output);
    }
    return;
  }
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (!is_container_of_tensors(*node.input(i)) || !changes(node, i)) continue;
    containers.push_back(node.input(i));
    group_of(node.input(i)).is_changed = true;
  }
  for (const Value* container : containers) {
    if (is_given(*container)) put({container, {}}, container);
    for (size_t i = 0; i < node.inputs().size(); ++i) add_flow({node.input(i), key_of_input(node, i)}, container);
  }
}

const std::vector<Content>& ContainerGroups::contents(const Value* container) {
  return group_of(container).contents;
}

std::vector<const Value*> ContainerGroups::taken_by(const Node& node) {
  const bool has_key = node.kind() == c10::aten::__getitem__ && node.inputs().size() == 2;
  const std::optional<std::string> key = has_key ? constant_string(*node.input(1)) : std::nullopt;
  std::vector<const Value*> values;
  for (const Content& content : contents(node.input(0))) {
    if (!key || !content.key || content.key == key) values.push_back(content.value);
  }
  return values;
}

bool ContainerGroups::is_same_group(const Value* container, const Value* other) {
  return root_of(container) == root_of(other);
}

bool ContainerGroups::is_changed(const Value* container) {
  return group_of(container).is_changed;
}

// For an operator that takes from a container, adds the origins of what is in the container's group.
void ContainerGroups::add_origins(const Value* value, std::unordered_set<const Value*>& origins) {
  std::vector<const Value*> waiting{value};
  std::unordered_set<const Value*> seen;
  while (!waiting.empty()) {
    const Value* next = waiting.back();
    waiting.pop_back();
    if (!has_tensors(*next) || !seen.insert(next).second) continue;
    std::vector<const Value*> sources;
    if (is_container_of_tensors(*next)) {
      for (const Content& content : contents(next)) sources.push_back(content.value);
    }
    if (is_given(*next)) origins.insert(next);
    if (!is_given(*next) && is_plain_tensor(*next)) {
      sources = flowing_into(*next);
      if (sources.empty()) sources = aliased_arguments(*next->node(), next->offset());
      if (sources.empty()) origins.insert(next);
    }
    waiting.insert(waiting.end(), sources.begin(), sources.end());
  }
}

}  // namespace nnapi_convert
