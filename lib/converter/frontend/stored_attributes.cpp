// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/stored_attributes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the nodes that are the only ones to set an attribute, by its name: two modules may be one object under two
// paths, so that the name counts, whichever object has it.
std::map<std::string, Node*> only_stores(Graph& graph) {
  std::map<std::string, Node*> stores;
  std::set<std::string> repeated;
  for_each_node(graph, [&](Node& node) {
    if (node.kind() != c10::prim::SetAttr) return;
    const std::string& name = node.s(c10::attr::name);
    if (!stores.emplace(name, &node).second) repeated.insert(name);
  });
  for (const std::string& name : repeated) stores.erase(name);
  return stores;
}

std::vector<Node*> reads_of_attributes(Graph& graph) {
  std::vector<Node*> reads;
  for_each_node(graph, [&](Node& node) {
    if (is_attribute_access(node, c10::prim::GetAttr)) reads.push_back(&node);
  });
  return reads;
}

bool is_plain_result(const Node& node) {
  return std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* output) {
    return output->type()->kind() == c10::TypeKind::TensorType || output->type()->kind() == c10::TypeKind::IntType;
  });
}

bool changes_list(const torch::jit::Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  return schema != nullptr && use.offset == 0 && schema->is_mutable();
}

// True for a use whose results can't hold the list itself, and that doesn't change it.
bool only_reads_list(const torch::jit::Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  return schema != nullptr && !schema->is_mutable() && is_plain_result(*use.user);
}

// Stores a list where all of its changes are done, as a copy, so that the list itself belongs to forward alone.
void store_last(Graph& graph, Node* store) {
  Value* list = store->input(1);
  const bool is_list =
      list->type()->kind() == c10::TypeKind::ListType && list->node()->kind() == c10::prim::ListConstruct;
  const auto& uses = list->uses();
  const bool is_own = std::all_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
    return use.user == store || changes_list(use) || only_reads_list(use);
  });
  if (!is_list || !is_own || store->owningBlock() != graph.block()) return;
  if (std::none_of(uses.begin(), uses.end(), changes_list)) return;
  const torch::jit::WithInsertPoint end(graph.return_node());
  store->replaceInput(1, graph.insert(c10::aten::list, {list}));
  store->moveBefore(graph.return_node());
}

}  // namespace

void read_stored_attributes(Graph& graph) {
  const std::map<std::string, Node*> stores = only_stores(graph);
  std::vector<Node*> known;
  for (Node* read : reads_of_attributes(graph)) {
    const auto found = stores.find(read->s(c10::attr::name));
    if (found == stores.end() || !read->isDominatedBy(found->second)) continue;
    Value* stored = found->second->input(1);
    const bool is_same = is_attribute_access(*found->second, c10::prim::SetAttr) &&
                         attribute_path(*read) == attribute_path(*found->second) &&
                         *read->output()->type() == *stored->type();
    if (!is_same) continue;
    read->output()->replaceAllUsesWith(stored);
    read->destroy();
    if (std::find(known.begin(), known.end(), found->second) == known.end()) known.push_back(found->second);
  }
  const std::vector<Node*> rest = reads_of_attributes(graph);
  for (Node* store : known) {
    const bool is_read = std::any_of(rest.begin(), rest.end(), [&](const Node* read) {
      return read->s(c10::attr::name) == store->s(c10::attr::name);
    });
    if (!is_read) store_last(graph, store);
  }
}

}  // namespace nnapi_convert
