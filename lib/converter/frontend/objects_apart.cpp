// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/objects_apart.h"

#include <map>
#include <string>
#include <vector>

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;

// Removes an object if each attribute is set once, before any node reads it.
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
  for (Node* get : gets) {
    get->output()->replaceAllUsesWith(sets[get->s(c10::attr::name)]->input(1));
    get->destroy();
  }
  for (const auto& [name, set] : sets) set->destroy();
  return true;
}

}  // namespace

Node* at_level_of(const Node& node, Node* user) {
  while (user->owningBlock() != node.owningBlock()) user = user->owningBlock()->owningNode();
  return user;
}

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

}  // namespace nnapi_convert
