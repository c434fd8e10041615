// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/control_flow_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lib/converter/load/argument_values.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kPrefix = "higher_order.";

const json& argument(const ExportNode& node, size_t index) {
  const json& inputs = list_of(member(node.json, "inputs"));
  if (index >= inputs.size())
    fail_export(fmt::format("{}{}: argument {} is missing", place_of(node), node.target, index));
  return member(inputs[index], "arg");
}

const json& graph_argument(const ExportNode& node, size_t index) {
  const TaggedJson value = tagged(argument(node, index));
  if (value.kind != "as_graph") fail_export(fmt::format("{}{}: no graph found", place_of(node), node.target));
  return member(*value.value, "graph");
}

// Returns the values of an argument that is a list.
TorchValues operands(Graph& graph, const ExportNode& node, size_t index, const ExportScope& scope) {
  const TaggedJson value = tagged(argument(node, index));
  TorchValues result;
  if (value.kind == "as_ints") {
    for (const json& number : list_of(*value.value)) result.push_back(graph.insertConstant(integer_of(number)));
    return result;
  }
  for (const json& each : list_of(*value.value)) {
    if (value.kind == "as_tensors") {
      result.push_back(scope.at(text_member(each, "name")));
    } else if (value.kind == "as_sym_ints") {
      result.push_back(value_of(graph, {{"as_sym_int", each}}, scope));
    } else {
      result.push_back(value_of(graph, each, scope));
    }
  }
  return result;
}

// Adds the inner graph's nodes to the block at the insert point, and returns their results.
TorchValues inlined(Graph& graph, const ExportNode& node, const json& inner, const TorchValues& inputs,
                    const AddNodes& add_nodes) {
  const json& names = list_of(member(inner, "inputs"));
  if (names.size() != inputs.size()) {
    fail_export(fmt::format("{}{}: {} values found for a graph of {} inputs", place_of(node), node.target,
                            inputs.size(), names.size()));
  }
  ExportScope scope;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TaggedJson name = tagged(names[i]);
    const bool is_tensor = name.kind == "as_tensor", is_symbol = name.kind.rfind("as_sym_", 0) == 0;
    if (!is_tensor && !is_symbol) continue;
    if (is_symbol && find_member(*name.value, "as_name") == nullptr) continue;
    scope.values.emplace(text_member(*name.value, is_tensor ? "name" : "as_name"), inputs[i]);
  }
  add_nodes(graph, inner, scope);
  return outputs_of(graph, inner, scope);
}

Value* as_bool(Graph& graph, Value* value) {
  return value->type()->kind() == c10::TypeKind::TensorType ? graph.insert(c10::aten::Bool, {value}) : value;
}

void add_outputs(Block* block, const TorchValues& values) {
  for (Value* value : values) block->registerOutput(value);
}

// Adds cond(predicate, graph, graph, operands).
void add_cond(Graph& graph, const ExportNode& node, ExportScope& scope, const AddNodes& add_nodes) {
  Value* predicate = as_bool(graph, value_of(graph, argument(node, 0), scope));
  const TorchValues inputs = operands(graph, node, 3, scope);
  Node* branch = graph.insertNode(graph.create(c10::prim::If, {predicate}, 0));
  std::vector<TorchValues> results;
  for (const size_t index : {1, 2}) {
    Block* block = branch->addBlock();
    const torch::jit::WithInsertPoint inside(block);
    results.push_back(inlined(graph, node, graph_argument(node, index), inputs, add_nodes));
    add_outputs(block, results.back());
  }
  const bool same = results[0].size() == results[1].size() &&
                    std::equal(results[0].begin(), results[0].end(), results[1].begin(),
                               [](const Value* a, const Value* b) { return *a->type() == *b->type(); });
  if (!same) refuse_node(node, "its branches give values of other types; let both give the same");
  for (const Value* result : results[0]) branch->addOutput()->setType(result->type());
  name_results(node, branch->outputs().vec(), scope);
}

// Adds while_loop(condition, body, operands, more operands).
void add_while_loop(Graph& graph, const ExportNode& node, ExportScope& scope, const AddNodes& add_nodes) {
  const TorchValues carried = operands(graph, node, 2, scope);
  const TorchValues fixed = operands(graph, node, 3, scope);
  const auto with_fixed = [&](TorchValues values) {
    values.insert(values.end(), fixed.begin(), fixed.end());
    return values;
  };
  const TorchValues first = inlined(graph, node, graph_argument(node, 0), with_fixed(carried), add_nodes);
  if (first.size() != 1) fail_export(fmt::format("{}{}: a condition of several values", place_of(node), node.target));
  TorchValues inputs = {graph.insertConstant(std::numeric_limits<int64_t>::max()), as_bool(graph, first[0])};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  Node* loop = graph.insertNode(graph.create(c10::prim::Loop, inputs, 0));
  Block* body = loop->addBlock();
  body->addInput()->setType(c10::IntType::get());
  TorchValues state;
  for (const Value* value : carried) state.push_back(body->addInput()->setType(value->type()));
  {
    const torch::jit::WithInsertPoint inside(body);
    const TorchValues next = inlined(graph, node, graph_argument(node, 1), with_fixed(state), add_nodes);
    if (next.size() != carried.size()) {
      fail_export(fmt::format("{}{}: {} values found after a step, {} before", place_of(node), node.target, next.size(),
                              carried.size()));
    }
    const TorchValues again = inlined(graph, node, graph_argument(node, 0), with_fixed(next), add_nodes);
    if (again.size() != 1) fail_export(fmt::format("{}{}: a condition of several values", place_of(node), node.target));
    body->registerOutput(as_bool(graph, again[0]));
    add_outputs(body, next);
  }
  for (const Value* value : carried) loop->addOutput()->setType(value->type());
  name_results(node, loop->outputs().vec(), scope);
}

// Adds the nodes of a graph that is argument `number` of the node; the graph's inputs follow it.
void add_wrapped(Graph& graph, const ExportNode& node, size_t number, ExportScope& scope, const AddNodes& add_nodes) {
  TorchValues inputs;
  for (size_t i = number + 1; i < list_of(member(node.json, "inputs")).size(); ++i) {
    inputs.push_back(value_of(graph, argument(node, i), scope));
  }
  name_results(node, inlined(graph, node, graph_argument(node, number), inputs, add_nodes), scope);
}

}  // namespace

bool add_control_flow(Graph& graph, const ExportNode& node, ExportScope& scope, const AddNodes& add_nodes) {
  if (node.target.rfind(kPrefix, 0) != 0) return false;
  const std::string name = node.target.substr(std::string(kPrefix).size());
  if (name == "cond") {
    add_cond(graph, node, scope, add_nodes);
  } else if (name == "while_loop") {
    add_while_loop(graph, node, scope, add_nodes);
  } else if (name == "wrap_with_set_grad_enabled") {  // (is_enabled, graph, inputs...)
    add_wrapped(graph, node, 1, scope, add_nodes);
  } else if (name == "wrap_with_autocast") {  // (device_type, dtype, is_enabled, cache_enabled, graph, inputs...)
    add_wrapped(graph, node, 4, scope, add_nodes);
  } else {
    refuse_node(node,
                "TorchScript has no form of this higher-order operator; write the model without it (cond, "
                "while_loop, no_grad and autocast blocks are taken)");
  }
  return true;
}

}  // namespace nnapi_convert
