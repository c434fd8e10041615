// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/changed_lists.h"

#include <algorithm>
#include <vector>

#include "lib/converter/frontend/objects_apart.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

// Returns what the operator's schema says of the argument; null for nodes without a schema.
const c10::Argument* argument_of(const Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return nullptr;
  return &schema->arguments()[use.offset];
}

bool writes(const Use& use) {
  const c10::Argument* argument = argument_of(use);
  return argument != nullptr && argument->alias_info() != nullptr && argument->alias_info()->isWrite();
}

// True for a value of a type that can't hold the list.
bool holds_no_list(const Value* value) {
  switch (value->type()->kind()) {
    case c10::TypeKind::TensorType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::StringType:
      return true;
    default:
      return false;
  }
}

// True for a use that reads the list's elements, and whose results don't hold the list.
bool only_reads(const Use& use) {
  const bool is_known = use.user->kind() == c10::prim::ListUnpack || (argument_of(use) != nullptr && !writes(use));
  const auto outputs = use.user->outputs();
  return is_known && !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), holds_no_list);
}

// Returns the first node of the list's block that changes the list, itself or in its blocks; null if none does.
Node* first_change(const Node& list) {
  Node* first = nullptr;
  for (const Use& use : list.output()->uses()) {
    if (!writes(use)) continue;
    Node* user = at_level_of(list, use.user);
    if (first == nullptr || user->isBefore(first)) first = user;
  }
  return first;
}

}  // namespace

bool part_before_change(Node* list) {
  Node* change = first_change(*list);
  if (change == nullptr || change->inputs().empty() || change->input(0) != list->output()) return false;
  bool is_read_before = false;
  std::vector<Use> behind;
  for (const Use& use : list->output()->uses()) {
    if (!at_level_of(*list, use.user)->isBefore(change)) {
      behind.push_back(use);
    } else if (only_reads(use)) {
      is_read_before = true;
    } else {
      return false;
    }
  }
  if (!is_read_before) return false;
  Node* copy = list->owningGraph()->createClone(list, [](Value* input) { return input; });
  copy->insertBefore(change);
  for (const Use& use : behind) use.user->replaceInput(use.offset, copy->output());
  return true;
}

}  // namespace nnapi_convert
