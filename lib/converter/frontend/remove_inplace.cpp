// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/remove_inplace.h"

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/frontend/input_changes.h"
#include "lib/converter/frontend/remove_part_writes.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {

namespace {

using torch::jit::AliasDb;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// True if `other`, a tensor or what holds tensors, may share memory with `value`.
bool may_share(const AliasDb& aliases, Value* value, Value* other) {
  return other->type()->kind() != c10::TypeKind::ClassType && aliases.mayContainAlias(value, other);
}

// True if the graph reads, after `node`, a value other than `self` that may share its memory.
bool other_alias_is_read_later(const AliasDb& aliases, Node* node, Value* self) {
  const auto is_other_alias = [&](Value* value) {
    return value != self && value != node->output() && value->node()->kind() != c10::prim::Constant &&
           may_share(aliases, self, value);
  };
  const auto is_old_alias = [&](Value* value) { return is_other_alias(value) && value->node()->isBefore(node); };
  for (auto later = std::next(node->iterator()); later != node->owningBlock()->nodes().end(); ++later) {
    bool is_read = false;
    for_each_read(**later, [&](Value* value) { is_read = is_read || is_old_alias(value); });
    if (is_read) return true;
  }
  const auto outputs = node->owningBlock()->outputs();
  return std::any_of(outputs.begin(), outputs.end(), is_old_alias);
}

void append_values(Block* block, std::vector<Value*>& values) {
  values.insert(values.end(), block->inputs().begin(), block->inputs().end());
  for (Node* node : block->nodes()) {
    values.insert(values.end(), node->outputs().begin(), node->outputs().end());
    for (Block* inner : node->blocks()) append_values(inner, values);
  }
}

Node* enclosing_node(Node* node) {
  return node->owningBlock()->owningNode();
}

// Answers for a node in a block of a branch or loop: would the graph read a value as it was before the node, after it
// was changed in place?
class ReadsAfterChange {
 public:
  ReadsAfterChange(const AliasDb& aliases, Graph& graph, Node* node) : aliases_(aliases), node_(node) {
    append_values(graph.block(), values_);
    follow(node->output());
    for (const torch::jit::Use& use : node->input(0)->uses()) {
      if (has_own_input() && use.user->isAfter(node)) follow(node->input(0), use);
    }
  }

  bool any() const {
    return std::any_of(values_.begin(), values_.end(), [&](Value* value) { return is_old(value) && is_read(value); });
  }

 private:
  // Adds all values that are the changed tensor later: results of branches and loops, and views. A value that the next
  // round gets isn't added: in this round it is the old tensor.
  void follow(Value* value) {
    if (!changed_.insert(value).second) return;
    for (const torch::jit::Use& use : value->uses()) follow(value, use);
  }

  void follow(Value* value, const torch::jit::Use& use) {
    Node* owner = enclosing_node(use.user);
    if (use.user->kind() == c10::prim::Loop && use.offset >= 2) {
      follow(use.user->blocks()[0]->inputs()[use.offset - 1]);
      follow(use.user->output(use.offset - 2));
    } else if (use.user->kind() == c10::prim::Return && owner != nullptr) {
      follow_block_output(owner, use.offset);
    } else if (use.user->kind() != c10::prim::Return) {
      for (Value* output : use.user->outputs()) {
        if (may_share(aliases_, value, output)) follow(output);
      }
    }
  }

  void follow_block_output(Node* owner, size_t index) {
    if (owner->kind() != c10::prim::Loop) return follow(owner->output(index));
    if (index > 0) follow(owner->output(index - 1));  // output 0 is the condition
  }

  // True if later reads of the node's input will read the result: they do if the input is of the same block.
  bool has_own_input() const { return node_->input(0)->node()->owningBlock() == node_->owningBlock(); }

  bool is_old(Value* value) const {
    Value* self = node_->input(0);
    if (changed_.count(value) != 0 || value->node()->kind() == c10::prim::Constant) return false;
    if (value == self) return !has_own_input();
    return may_share(aliases_, self, value);
  }

  bool is_read(Value* value) const {
    return std::any_of(value->uses().begin(), value->uses().end(), [&](const torch::jit::Use& use) {
      return use.user->isAfter(node_) || is_read_in_next_round(value, use.user);
    });
  }

  // True for a value from outside of a loop around the node: it is read again in each round.
  bool is_read_in_next_round(Value* value, Node* user) const {
    for (Node* loop = enclosing_node(node_); loop != nullptr; loop = enclosing_node(loop)) {
      if (loop->kind() != c10::prim::Loop) continue;
      if (is_inside(user, loop) && !is_inside(value->node(), loop)) return true;
    }
    return false;
  }

  // True if the node is in a block of `outer`. The node of a block's inputs is inside that block.
  static bool is_inside(Node* node, const Node* outer) {
    for (Node* owner = enclosing_node(node); owner != nullptr; owner = enclosing_node(owner)) {
      if (owner == outer) return true;
    }
    return false;
  }

  const AliasDb& aliases_;
  Node* node_;
  std::vector<Value*> values_;
  std::unordered_set<const Value*> changed_;
};

void append_inplace_in_blocks(Block* block, std::vector<Node*>& nodes) {
  for (Node* node : block->nodes()) {
    if (enclosing_node(node) != nullptr && functional_kind(*node)) nodes.push_back(node);
    for (Block* inner : node->blocks()) append_inplace_in_blocks(inner, nodes);
  }
}

bool is_graph_input(const Graph& graph, const Value* value) {
  const auto inputs = graph.inputs();
  return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
}

// True if the value may share memory with an attribute: such state has to be changed in place.
bool may_be_state(const AliasDb& aliases, Graph& graph, Value* value) {
  bool may_be = false;
  for_each_node(graph, [&](Node& node) {
    may_be = may_be || (node.kind() == c10::prim::GetAttr && may_share(aliases, value, node.output()));
  });
  return may_be;
}

// Makes in-place nodes outside of branches and loops functional.
void remove_at_top(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  const auto begin = graph->nodes().begin();
  const auto end = graph->nodes().end();
  const bool any = std::any_of(begin, end, [](Node* node) { return functional_kind(*node).has_value(); });
  if (!any) return;
  // Asks all questions before it makes nodes: alias analysis reads the graph as it is now, and lacks nodes made later.
  const AliasDb aliases(graph);
  std::vector<Node*> safe;
  for (Node* node : graph->nodes()) {
    const bool is_safe = functional_kind(*node) && !other_alias_is_read_later(aliases, node, node->input(0)) &&
                         !may_be_state(aliases, *graph, node->input(0));
    if (is_safe) safe.push_back(node);
  }
  for (Node* node : safe) {
    if (is_graph_input(*graph, node->input(0))) diagnostics.warn(input_change_warning(*node));
    make_functional(node);
  }
}

// Removes in-place changes in the graph's own block, one by one, whose tensor is read later through other views.
void remove_part_writes(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  std::vector<Node*> nodes;
  for (Node* node : graph->nodes()) {
    if (functional_kind(*node)) nodes.push_back(node);
  }
  for (Node* node : nodes) {
    const AliasDb aliases(graph);
    PartWrite write(node);
    const auto maker = write.whole()->node()->kind();
    if (maker == c10::prim::Constant || maker == c10::prim::GetAttr || !write.is_removable(aliases) ||
        may_be_state(aliases, *graph, node->input(0))) {
      continue;
    }
    if (is_graph_input(*graph, write.whole())) diagnostics.warn(input_change_warning(*node));
    write.remove();
  }
}

// Removes in-place changes in blocks of control flow. The changes are removed one by one: a change of another change's
// result can be judged only when the other one is functional.
void remove_in_blocks(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  std::vector<Node*> nodes;
  append_inplace_in_blocks(graph->block(), nodes);
  for (Node* node : nodes) {
    const AliasDb aliases(graph);
    if (ReadsAfterChange(aliases, *graph, node).any() || may_be_state(aliases, *graph, node->input(0))) continue;
    if (is_graph_input(*graph, node->input(0))) diagnostics.warn(input_change_warning(*node));
    make_functional(node);
  }
}

void remove_all(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  remove_at_top(graph, diagnostics);
  remove_part_writes(graph, diagnostics);
  remove_in_blocks(graph, diagnostics);
}

// Returns the tensor of which the node's first argument is a view, or the argument itself.
Value* changed_whole(const Node& node) {
  Value* value = const_cast<Node&>(node).input(0);
  for (;;) {
    const Node& maker = *value->node();
    const c10::FunctionSchema* schema = maker.maybeSchema();
    const bool is_first =
        schema != nullptr && !maker.inputs().empty() && schema->arguments()[0].alias_info() != nullptr;
    if (!is_first || maker.outputs().size() != 1) return value;
    value = const_cast<Node&>(maker).input(0);
  }
}

std::vector<Node*> changes_of(Graph& graph, const Value* whole) {
  std::vector<Node*> changes;
  for_each_node(graph, [&](Node& node) {
    if (functional_kind(node) && changed_whole(node) == whole) changes.push_back(&node);
  });
  return changes;
}

bool reads_state(Graph& graph) {
  bool reads = false;
  for_each_node(graph, [&](const Node& node) {
    reads = reads || (node.kind() == c10::prim::GetAttr && node.output()->type()->kind() != c10::TypeKind::ClassType);
  });
  return reads;
}

std::vector<Value*> tensor_inputs(Graph& graph) {
  std::vector<Value*> tensors;
  for (Value* input : graph.inputs()) {
    if (input->type()->kind() == c10::TypeKind::TensorType) tensors.push_back(input);
  }
  return tensors;
}

// An input that the graph changes in place, and the copy that the graph changes in its place for a while.
struct ChangedInput {
  Value* input;
  Value* copy;
  Diagnostics warnings;  // given if its changes are removed
};

// Assumes that the graph's inputs share no memory, which alias analysis doesn't: removes changes of inputs that are
// left only because another input might share their memory. Returns these inputs.
std::vector<Value*> remove_with_inputs_apart(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  const std::vector<Value*> inputs = tensor_inputs(*graph);
  if (inputs.size() < 2 || reads_state(*graph)) return {};
  std::vector<ChangedInput> changed;
  for (Value* input : inputs) {
    const std::vector<Node*> changes = changes_of(*graph, input);
    if (changes.empty()) continue;
    const torch::jit::WithInsertPoint at_start(*graph->nodes().begin());
    Value* copy = graph->insert(c10::aten::clone, {input});
    input->replaceAllUsesAfterNodeWith(copy->node(), copy);
    changed.push_back({input, copy, {}});
    for (const Node* change : changes) changed.back().warnings.warn(input_change_warning(*change));
  }
  if (changed.empty()) return {};
  Diagnostics ignored;
  remove_all(graph, ignored);
  std::vector<Value*> apart;
  for (ChangedInput& each : changed) {
    if (changes_of(*graph, each.copy).empty()) {
      apart.push_back(each.input);
      for (Warning& warning : each.warnings.warnings) diagnostics.warn(std::move(warning));
    }
    each.copy->replaceAllUsesWith(each.input);
    each.copy->node()->destroy();
  }
  return apart;
}

// Replaces an _index_put_impl_ whose list can hold no None, and which has no functional form then, by index_put_, which
// does the same and has one.
void use_index_put(Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) use_index_put(inner);
    if (node->kind() != c10::aten::_index_put_impl_ || functional_kind(*node)) continue;
    Node* same = node->owningGraph()->create(c10::aten::index_put_, node->inputs().slice(0, 4));
    same->copyMetadata(node);
    same->output()->copyMetadata(node->output());
    same->insertBefore(node);
    node->output()->replaceAllUsesWith(same->output());
    node->destroy();
  }
}

}  // namespace

std::vector<Value*> remove_inplace(const std::shared_ptr<Graph>& graph, Diagnostics& diagnostics) {
  use_index_put(graph->block());
  remove_all(graph, diagnostics);
  return remove_with_inputs_apart(graph, diagnostics);
}

}  // namespace nnapi_convert
