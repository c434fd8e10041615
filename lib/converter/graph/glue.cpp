// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/glue.h"

#include <algorithm>

namespace nnapi_convert {

using torch::jit::Node;
using torch::jit::Value;

namespace {

bool is_container(const Node& node) {
  return node.kind() == c10::prim::ListConstruct || node.kind() == c10::prim::TupleConstruct ||
         node.kind() == c10::prim::DictConstruct;
}

// True if values of type `outer` may hold one of type `inner`.
bool may_hold(const c10::TypePtr& outer, const c10::TypePtr& inner) {
  if (inner->isSubtypeOf(*outer)) return true;
  const auto contained = outer->containedTypes();
  return std::any_of(contained.begin(), contained.end(), [&](const auto& part) { return may_hold(part, inner); });
}

// True if a node may take a value of this type out of the container and change it.
bool may_change_taken(const Node& container, const c10::TypePtr& type) {
  const auto& uses = container.output()->uses();
  return std::any_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
    if (is_container(*use.user)) return may_change_taken(*use.user, type);
    const auto outputs = use.user->outputs();
    return std::any_of(outputs.begin(), outputs.end(), [&](const Value* output) {
      return may_hold(output->type(), type) && (!output->type()->isSubtypeOf(*type) || may_be_changed(*output));
    });
  });
}

// True if the use's node, or a later node that takes the container from it, may change the container.
bool may_change(const torch::jit::Use& use, const c10::TypePtr& type) {
  const Node& user = *use.user;
  if (user.kind() == c10::prim::Return) return user.owningBlock()->owningNode() != nullptr;
  if (is_container(user)) return !is_glue(user) || may_change_taken(user, type);
  if (!user.blocks().empty()) return true;
  const auto outputs = user.outputs();
  const bool is_handed_on =
      std::any_of(outputs.begin(), outputs.end(), [&](const Value* output) { return may_hold(output->type(), type); });
  const c10::FunctionSchema* schema = user.maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return is_handed_on;
  const auto* alias = schema->arguments()[use.offset].alias_info();
  return alias != nullptr && (alias->isWrite() || is_handed_on);
}

}  // namespace

bool hands_on(const Node& node) {
  return is_container(node) || (takes_out(node) && node.kind() != c10::aten::__getitem__);
}

bool takes_out(const Node& node) {
  const c10::Symbol kind = node.kind();
  return kind == c10::prim::ListUnpack || kind == c10::prim::TupleUnpack || kind == c10::prim::TupleIndex ||
         kind == c10::prim::TupleSlice || kind == c10::prim::unchecked_cast || kind == c10::aten::__getitem__;
}

bool may_be_changed(const Value& container) {
  const auto& uses = container.uses();
  return std::any_of(uses.begin(), uses.end(),
                     [&](const torch::jit::Use& use) { return may_change(use, container.type()); });
}

bool is_glue(const Node& node) {
  return is_container(node) && !may_be_changed(*node.output());
}

}  // namespace nnapi_convert
