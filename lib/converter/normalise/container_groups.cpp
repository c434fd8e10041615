#include "lib/converter/normalise/container_groups.h"

#include <ATen/ATen.h>

#include <algorithm>

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
    if (is_container_of_tensors(*argument)) put(argument, argument);
  }
  for_each_node(graph, [&](const Node& node) { add_node(node); });
}

const Value* ContainerGroups::root_of(const Value* container) {
  const Value* parent = parents_.emplace(container, container).first->second;
  if (parent == container) return container;
  return parents_[container] = root_of(parent);
}

// Joins the value's group to the container's, or adds a tensor to it.
void ContainerGroups::put(const Value* value, const Value* container) {
  Group& into = group_of(container);
  if (is_plain_tensor(*value) || is_given(*value)) into.contents.push_back(value);
  const Value* root = is_container_of_tensors(*value) ? root_of(value) : nullptr;
  if (root == nullptr || root == root_of(container)) return;
  const Group joined = std::move(groups_[root]);
  Group& group = group_of(container);  // again: a new group may move the others
  group.contents.insert(group.contents.end(), joined.contents.begin(), joined.contents.end());
  group.is_changed = group.is_changed || joined.is_changed;
  groups_.erase(root);
  parents_[root] = root_of(container);
}

void ContainerGroups::add_flow(const Value* from, const Value* into) {
  if (is_container_of_tensors(*into) && has_tensors(*from)) put(from, into);
}

void ContainerGroups::add_node(const Node& node) {
  for (const Block* block : node.blocks()) {
    for (const Value* parameter : block->inputs()) {
      for (const Value* from : flowing_into(*parameter)) add_flow(from, parameter);
    }
  }
  std::vector<const Value*> containers;
  for (const Value* output : node.outputs()) {
    if (is_container_of_tensors(*output)) containers.push_back(output);
  }
  if (!node.blocks().empty()) {
    for (const Value* output : containers) {
      for (const Value* from : flowing_into(*output)) add_flow(from, output);
    }
    return;
  }
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (!is_container_of_tensors(*node.input(i)) || !changes(node, i)) continue;
    containers.push_back(node.input(i));
    group_of(node.input(i)).is_changed = true;
  }
  for (const Value* container : containers) {
    if (is_given(*container)) put(container, container);
    for (const Value* input : node.inputs()) add_flow(input, container);
  }
}

const std::vector<const Value*>& ContainerGroups::contents(const Value* container) {
  return group_of(container).contents;
}

bool ContainerGroups::is_same_group(const Value* container, const Value* other) {
  return root_of(container) == root_of(other);
}

bool ContainerGroups::is_changed(const Value* container) {
  return group_of(container).is_changed;
}

// An operator that takes from a container gives what is in the container's group.
void ContainerGroups::add_origins(const Value* value, std::unordered_set<const Value*>& origins) {
  std::vector<const Value*> waiting{value};
  std::unordered_set<const Value*> seen;
  while (!waiting.empty()) {
    const Value* next = waiting.back();
    waiting.pop_back();
    if (!has_tensors(*next) || !seen.insert(next).second) continue;
    std::vector<const Value*> sources;
    if (is_container_of_tensors(*next)) sources = contents(next);
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
