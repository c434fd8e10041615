// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/newer_operators.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "lib/converter/graph/androids_operators.h"
#include "lib/converter/graph/changed_overload.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/node_place.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Stack;
using torch::jit::Value;

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

// A row of the table, with its function once it was asked for.
class Entry {
 public:
  explicit Entry(const ScriptForm& form) : form_(form), schema_(torch::jit::parseSchema(form.schema)) {}

  const ScriptForm& form() const { return form_; }
  bool is_newer() const { return std::string_view(form_.release) != kOldRelease; }
  const c10::FunctionSchema& schema() const { return schema_; }

  // Returns the function that computes the operator; null if the row has no source.
  torch::jit::Function* function() const {
    if (form_.source == nullptr || unit_) return function_;
    unit_ = std::make_shared<torch::jit::CompilationUnit>();
    function_ = unit_->define(c10::nullopt, form_.source, torch::jit::nativeResolver(), nullptr).front();
    return function_;
  }

 private:
  ScriptForm form_;
  c10::FunctionSchema schema_;
  mutable std::shared_ptr<torch::jit::CompilationUnit> unit_;
  mutable torch::jit::Function* function_ = nullptr;
};

const std::map<std::string, Entry>& entries() {
  static const auto by_name = [] {
    std::map<std::string, Entry> result;
    for (const ScriptForm& form : all_script_forms()) {
      const Entry entry(form);
      result.emplace(full_name(entry.schema().operator_name()), entry);
    }
    return result;
  }();
  return by_name;
}

bool is_known(const c10::OperatorName& name) {
  const auto& known = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name.name));
  return std::any_of(known.begin(), known.end(), [&](const std::shared_ptr<torch::jit::Operator>& each) {
    return each->schema().overload_name() == name.overload_name;
  });
}

// Runs the row's TorchScript function. It gives one result: a tuple for several, None for none.
void run(const Entry& entry, Stack& stack) {
  const size_t results = entry.schema().returns().size();
  if (entry.function() == nullptr) throw std::runtime_error(described(entry.form()));
  entry.function()->run(stack);
  if (results == 1) return;
  const c10::IValue result = torch::jit::pop(stack);
  if (results == 0) return;
  for (const c10::IValue& element : result.toTupleRef().elements()) stack.push_back(element);
}

void declare(const Entry& entry) {
  const c10::FunctionSchema& schema = entry.schema();
  if (is_known(schema.operator_name())) return;
  // Registers the parsed schema: its text would be parsed again.
  torch::jit::registerOperator(torch::jit::Operator(
      schema.name(), schema.overload_name(), schema.arguments(), schema.returns(),
      [&entry](Stack& stack) { run(entry, stack); }, c10::AliasAnalysisKind::FROM_SCHEMA));
}

bool declare_newer() {
  for (const auto& named : entries()) declare(named.second);
  return true;
}

const Entry* entry_of(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  auto found = entries().find(full_name(schema->operator_name()));
  if (found == entries().end()) found = entries().find(changed_overload(node));
  return found == entries().end() ? nullptr : &found->second;
}

bool is_taken_apart(Node& node) {
  const Entry* entry = entry_of(node);
  if (entry == nullptr || entry->function() == nullptr) return false;
  return entry->form().applies == nullptr || entry->form().applies(node);
}

// Returns a row for an operator that the table lacks, and that this program's LibTorch has and 1.13.1 lacks.
const ScriptForm& unlisted(const std::string& name) {
  struct Unlisted {
    std::string schema;
    ScriptForm form;
  };
  static std::map<std::string, Unlisted> known;
  const auto [found, is_new] = known.try_emplace(name);
  if (is_new) {
    found->second.schema = name + "() -> ()";  // messages need its name alone
    found->second.form = {found->second.schema.c_str(), "", nullptr, "write it with operators of PyTorch 1.13"};
  }
  return found->second.form;
}

void take_apart(Node* node, torch::jit::Function& function) {
  Graph& graph = *node->owningGraph();
  const std::shared_ptr<Graph> body = torch::jit::toGraphFunction(function).graph();
  const torch::jit::WithInsertPoint here(node);
  const Node* before = node->prev();
  const std::vector<Value*> inputs(node->inputs().begin(), node->inputs().end());
  std::vector<Value*> results = torch::jit::insertGraph(graph, *body, inputs);
  if (node->outputs().size() > 1) {
    results = graph.insertNode(graph.createTupleUnpack(results[0]))->outputs().vec();
  }
  for (Node* made = node->prev(); made != before; made = made->prev()) {
    for_each_node(*made, [&](Node& each) {
      take_place(each, *node);
      each.setScope(node->scope());
    });
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    if (node->output(i)->hasDebugName()) results[i]->copyMetadata(node->output(i));
    node->output(i)->replaceAllUsesWith(results[i]);
  }
  node->destroy();
}

}  // namespace

void declare_newer_operators() {
  static const bool is_done = declare_newer();
  (void)is_done;
}

const ScriptForm* newer_operator(const Node& node) {
  const Entry* entry = entry_of(node);
  if (entry != nullptr && entry->is_newer()) return &entry->form();
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || is_androids_operator(schema->operator_name())) return nullptr;
  return &unlisted(full_name(schema->operator_name()));
}

// Takes newer operators apart in rounds, as the form of one operator in the table may use others in the table. A chain
// of such uses is no longer than the table, unless an operator's form uses the operator itself.
void take_newer_operators_apart(Graph& graph) {
  for (size_t round = 0; round <= entries().size(); ++round) {
    std::vector<Node*> nodes;
    for_each_node(graph, [&](Node& node) {
      if (is_taken_apart(node)) nodes.push_back(&node);
    });
    if (nodes.empty()) return;
    for (Node* node : nodes) take_apart(node, *entry_of(*node)->function());
  }
  throw std::logic_error("an operator of lib/ops/script_forms.h is made of itself");
}

std::vector<std::shared_ptr<Graph>> saved_graphs(const torch::jit::Module& module) {
  std::vector<std::shared_ptr<Graph>> graphs;
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    auto* graph_function = function == nullptr ? nullptr : torch::jit::tryToGraphFunction(*function);  // null: removed
    if (graph_function != nullptr) graphs.push_back(graph_function->graph());
  }
  return graphs;
}

void take_newer_operators_apart(const torch::jit::Module& module) {
  for (const std::shared_ptr<Graph>& graph : saved_graphs(module)) take_newer_operators_apart(*graph);
}

std::string described(const ScriptForm& newer) {
  const std::string name = full_name(torch::jit::parseSchema(newer.schema).operator_name());
  const std::string release = newer.release;
  const bool is_of_torch = release.empty() || std::isdigit(static_cast<unsigned char>(release[0])) != 0;
  return fmt::format("{} ({}{}), which PyTorch 1.13.1 on the device lacks", name, is_of_torch ? "PyTorch " : "",
                     release.empty() ? "2" : release);
}

}  // namespace nnapi_convert
