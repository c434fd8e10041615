// SPDX-License-Identifier: BSD-3-Clause
// Handles new tensors that are changed before anything else sees them, and the parts that LibTorch's recurrent cells
// take of a product and change one by one.
#include "lib/converter/frontend/changes_of_new_tensors.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {

bool makes_new_tensor(const torch::jit::Node& node) {
  return find_traits(node).memory == Memory::kFresh;
}

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

c10::optional<c10::Symbol> safe_kind(const Node& node) {
  static const std::map<std::string, const char*> kinds = {{"aten::unsafe_chunk", "aten::chunk"},
                                                           {"aten::unsafe_split", "aten::split"},
                                                           {"aten::unsafe_split_with_sizes", "aten::split_with_sizes"}};
  const auto found = kinds.find(node.kind().toQualString());
  if (found == kinds.end()) return c10::nullopt;
  return c10::Symbol::fromQualString(found->second);
}

bool is_change_of_input(const Use& use) {
  return use.offset == 0 && functional_kind(*use.user).has_value();
}

// True if the use hands no memory on: an operator that gives a new tensor.
bool only_reads(const Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  return schema != nullptr && use.offset < schema->arguments().size() &&
         schema->arguments()[use.offset].alias_info() == nullptr;
}

// True if the tensor is new memory that has no other use than this one: the result of an operator, or of changing such
// a result in place; these changes are added.
bool is_read_once(Value* value, std::vector<Node*>& changes) {
  if (value->uses().size() != 1) return false;
  Node* maker = value->node();
  if (!functional_kind(*maker)) return makes_new_tensor(*maker);
  if (!is_read_once(maker->input(0), changes)) return false;
  changes.push_back(maker);
  return true;
}

// Appends the nodes that change the part in place, in order. False if the part has other uses than reads, or in a
// block.
bool read_changes(const Value& part, const torch::jit::Block* block, std::vector<Node*>& changes) {
  for (const Use& use : part.uses()) {
    if (use.user->owningBlock() != block) return false;
    if (!is_change_of_input(use)) {
      if (!only_reads(use)) return false;
      continue;
    }
    changes.push_back(use.user);
    if (!read_changes(*use.user->output(), block, changes)) return false;
  }
  return true;
}

// Returns the node that takes the list of parts apart, if no other node uses the list.
Node* unpack_of(const Node& chunk) {
  const auto& uses = chunk.output()->uses();
  const bool fits = uses.size() == 1 && uses[0].user->kind() == c10::prim::ListUnpack &&
                    uses[0].user->owningBlock() == chunk.owningBlock();
  return fits ? uses[0].user : nullptr;
}

void make_safe(Node* chunk, c10::Symbol kind) {
  const Node* unpack = unpack_of(*chunk);
  std::vector<Node*> changes;
  if (unpack == nullptr || !is_read_once(chunk->input(0), changes)) return;
  for (const Value* part : unpack->outputs()) {
    std::vector<Node*> of_part;
    if (!read_changes(*part, chunk->owningBlock(), of_part)) return;
    std::sort(of_part.begin(), of_part.end(), [](Node* a, Node* b) { return a->isBefore(b); });
    changes.insert(changes.end(), of_part.begin(), of_part.end());
  }
  for (Node* change : changes) make_functional(change);
  Node* safe = chunk->owningGraph()->create(kind, chunk->inputs(), 1);
  safe->insertBefore(chunk);
  safe->setSourceRange(chunk->sourceRange());
  safe->setScope(chunk->scope());
  safe->output()->setType(chunk->output()->type());
  chunk->output()->replaceAllUsesWith(safe->output());
  chunk->destroy();
}

// True if the node makes a new tensor, or casts one that nothing else reads.
bool gives_new_tensor(const Node& node) {
  if (node.kind() != c10::aten::type_as) return makes_new_tensor(node);
  return node.input(0)->uses().size() == 1 && makes_new_tensor(*node.input(0)->node());
}

// True if an operator of the same block made the tensor that the node changes, and nodes between them only read it.
bool changes_new_tensor(const Node& change) {
  const Value& self = *change.input(0);
  if (!gives_new_tensor(*self.node()) || self.node()->owningBlock() != change.owningBlock()) return false;
  return std::all_of(self.uses().begin(), self.uses().end(), [&](const Use& use) {
    return use.user == &change || use.user->isAfter(&change) || only_reads(use);
  });
}

}  // namespace

void make_changes_functional(Graph& graph) {
  std::vector<std::pair<Node*, c10::Symbol>> chunks;
  std::vector<Node*> changes;
  for_each_node(graph, [&](Node& node) {
    if (const auto kind = safe_kind(node)) chunks.emplace_back(&node, *kind);
  });
  for (const auto& [chunk, kind] : chunks) make_safe(chunk, kind);
  for_each_node(graph, [&](Node& node) {
    if (functional_kind(node)) changes.push_back(&node);
  });
  for (Node* change : changes) {
    if (changes_new_tensor(*change)) make_functional(change);
  }
}

}  // namespace nnapi_convert
