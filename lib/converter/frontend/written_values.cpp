// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/written_values.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lib/converter/frontend/closed_evaluation.h"
#include "lib/converter/graph/element_writes.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/guarded_call.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {

using torch::jit::Node;
using torch::jit::Value;

void WrittenValues::find_changes() {
  if (kind_ != Graph::kUnknown) return;
  kind_ = Graph::kUnchanging;
  for_each_node(*graph_, [&](const Node& node) {
    if (changes_argument(node)) kind_ = Graph::kChanging;
  });
}

void WrittenValues::analyse() {
  if (kind_ != Graph::kChanging || aliases_ != nullptr) return;
  try {
    aliases_ = std::make_unique<torch::jit::AliasDb>(graph_);
  } catch (const std::exception&) {
    kind_ = Graph::kUnclear;
    return;
  }
  for_each_node(*graph_, [&](const Node& node) {
    for (const Value* output : node.outputs()) newest_ = std::max(newest_, output->unique());
  });
}

namespace {

// False if the uses of the value show that no node changes its memory.
bool may_change(const Value& value) {
  switch (value.type()->kind()) {
    case c10::TypeKind::TensorType:
      return may_be_written(value);
    case c10::TypeKind::ListType:
    case c10::TypeKind::DictType:
      return may_be_changed(value);
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::StringType:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool WrittenValues::has(const Value& value) {
  if (!may_change(value)) return false;
  find_changes();
  if (kind_ == Graph::kUnchanging) return false;
  analyse();
  return kind_ == Graph::kUnclear || value.unique() > newest_ || aliases_->hasWriters(&value);
}

bool WrittenValues::has_output_of(const Node& node) {
  const auto outputs = node.outputs();
  return std::any_of(outputs.begin(), outputs.end(), [this](const Value* output) { return has(*output); });
}

namespace {

using torch::jit::Stack;

using Results = std::unordered_map<const Value*, c10::IValue>;

void for_each_storage(const c10::IValue& value, const std::function<void(const void*)>& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined() && value.toTensor().has_storage()) {
      visit(value.toTensor().storage().unsafeGetStorageImpl());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) for_each_storage(tensor, visit);
  }
}

// True if the node changes tensors only: constants that are lists share no memory.
bool changes_tensors_only(const Node& node) {
  const auto& arguments = node.schema().arguments();
  return std::all_of(arguments.begin(), arguments.end(), [](const c10::Argument& argument) {
    const bool is_tensor = argument.type()->kind() == c10::TypeKind::TensorType;
    return is_tensor || argument.alias_info() == nullptr || !argument.alias_info()->isWrite();
  });
}

// The nodes that can be run at conversion together, in program order.
class ClosedNodes {
 public:
  ClosedNodes(torch::jit::Graph& graph, const TypeMap& types, const torch::jit::AliasDb& aliases)
      : graph_(graph), types_(types), aliases_(aliases) {
    for_each_node(graph_, [this](Node& node) {
      if (changes_argument(node)) changes_.push_back(&node);
      if (node.kind() != c10::prim::Constant) return;
      for_each_storage(*torch::jit::toIValue(node.output()), [this](const void* storage) { fixed_.insert(storage); });
    });
    for (Node* node : graph_.nodes()) {
      if (could_run(*node)) closed_.insert(node);
    }
    while (drop_some()) {
    }
  }

  bool has(const Node* node) const { return closed_.count(node) != 0; }

  // Runs the nodes. If one can't be run, drops it and what depends on it, and returns nothing.
  std::optional<Results> run() {
    const c10::NoGradGuard no_grad;
    Results results;
    for (Node* node : graph_.nodes()) {
      if (has(node) && !run(*node, results)) {
        closed_.erase(node);
        while (drop_some()) {
        }
        return std::nullopt;
      }
    }
    return results;
  }

 private:
  bool could_run(const Node& node) const {
    if (changes_argument(node) && !changes_tensors_only(node)) return false;
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (node.kind() != c10::prim::ListConstruct && (schema == nullptr || schema->is_vararg())) return false;
    return (may_run_early(node) && has_known_inputs(node)) || run_on_shape(node, types_).has_value();
  }

  bool has_known_inputs(const Node& node) const {
    const auto inputs = node.inputs();
    return std::all_of(inputs.begin(), inputs.end(),
                       [this](const Value* input) { return has(input->node()) || torch::jit::toIValue(input); });
  }

  // True if nodes that aren't closed were dropped: they depend on others that aren't, or share memory with such.
  bool drop_some() {
    std::vector<Node*> dropped;
    for (Node* node : graph_.nodes()) {
      if (has(node) && (!could_run(*node) || is_changed_outside(*node) || is_read_before(*node))) {
        dropped.push_back(node);
      }
    }
    for (const Node* node : dropped) closed_.erase(node);
    return !dropped.empty();
  }

  // True if a node that isn't closed changes a result of the node.
  bool is_changed_outside(const Node& node) const {
    const torch::jit::ValueSet results(node.outputs().begin(), node.outputs().end());
    return std::any_of(changes_.begin(), changes_.end(),
                       [&](Node* change) { return !has(change) && aliases_.writesToAlias(change, results); });
  }

  // True if the node changes what an earlier node reads that isn't closed.
  bool is_read_before(Node& node) const {
    if (!changes_argument(node)) return false;
    torch::jit::ValueSet read;
    for (Node* earlier : graph_.nodes()) {
      if (earlier == &node) break;
      if (has(earlier)) continue;
      for_each_read(*earlier, [&](Value* value) {
        if (has(value->node())) read.insert(value);
      });
    }
    return aliases_.writesToAlias(&node, read);
  }

  bool run(const Node& node, Results& results) const {
    std::optional<Stack> stack = run_on_shape(node, types_);
    if (!stack) {
      stack.emplace();
      for (const Value* input : node.inputs()) {
        const auto known = results.find(input);
        stack->push_back(known != results.end() ? known->second : *torch::jit::toIValue(input));
      }
      if (!leaves_constants(node, *stack) || !call(node, *stack)) return false;
    }
    if (stack->size() != node.outputs().size()) return false;
    for (size_t i = 0; i < stack->size(); ++i) {
      if (!can_be_constant((*stack)[i])) return false;
      results[node.output(i)] = (*stack)[i];
    }
    return true;
  }

  // False if the node would change a constant of the graph.
  bool leaves_constants(const Node& node, const Stack& stack) const {
    if (!changes_argument(node)) return true;
    bool may = true;
    for (size_t i = 0; i < stack.size(); ++i) {
      const auto* alias = node.schema().arguments()[i].alias_info();
      if (alias == nullptr || !alias->isWrite()) continue;
      for_each_storage(stack[i], [&](const void* storage) { may = may && fixed_.count(storage) == 0; });
    }
    return may;
  }

  static bool can_be_constant(const c10::IValue& value) {
    torch::jit::Graph graph;
    return torch::jit::tryInsertConstant(graph, value).has_value();
  }

  static bool call(const Node& node, Stack& stack) {
    try {
      if (node.kind() == c10::prim::ListConstruct) {
        c10::impl::GenericList list(node.output()->type()->expectRef<c10::ListType>().getElementType());
        for (const c10::IValue& element : stack) list.push_back(element);
        stack = {list};
      } else {
        call_operator(node, stack);
      }
      return true;
    } catch (const std::exception&) {
      return false;  // the node raises the same error when the model runs
    }
  }

  torch::jit::Graph& graph_;
  const TypeMap& types_;
  const torch::jit::AliasDb& aliases_;
  std::vector<Node*> changes_;             // the nodes that change an argument
  std::unordered_set<const void*> fixed_;  // the storages of constants
  std::unordered_set<const Node*> closed_;
};

void replace_by_result(NormalisedModel& model, Value* output, const c10::IValue& result) {
  const torch::jit::WithInsertPoint here(output->node());
  Value* constant = model.graph->insertConstant(result);
  std::replace(model.outputs.begin(), model.outputs.end(), output, constant);
  output->replaceAllUsesWith(constant);
}

}  // namespace

bool evaluate_closed_writes(NormalisedModel& model, const TypeMap& types) {
  std::unique_ptr<torch::jit::AliasDb> aliases;
  try {
    aliases = std::make_unique<torch::jit::AliasDb>(model.graph);
  } catch (const std::exception&) {
    return false;  // a refused node has inputs of types that its operator doesn't take
  }
  ClosedNodes closed(*model.graph, types, *aliases);
  std::optional<Results> results;
  while (!results) results = closed.run();
  if (results->empty()) return false;
  std::vector<Node*> nodes;
  for (Node* node : model.graph->nodes()) {
    if (closed.has(node)) nodes.push_back(node);
  }
  for (Node* node : nodes) {
    for (Value* output : node->outputs()) replace_by_result(model, output, results->at(output));
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) (*node)->destroy();
  return true;
}

}  // namespace nnapi_convert
