// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/weights_aside.h"

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

c10::Symbol weight_kind() {
  return c10::Symbol::fromQualString("nnapi_convert::weight_aside");
}

// Declares the operator that stands for a weight. `weight` is an input of the graph, so that no pass runs it.
void declare_operator() {
  static const bool is_done = [] {
    torch::jit::registerOperator(torch::jit::Operator(
        "nnapi_convert::weight_aside(int weight) -> Tensor",
        [](torch::jit::Stack&) { NNC_ASSERT(false, "a weight that is put aside has no value"); },
        c10::AliasAnalysisKind::PURE_FUNCTION));
    return true;
  }();
  static_cast<void>(is_done);
}

using Storages = std::set<const c10::StorageImpl*>;

void add_storages(const c10::IValue& value, Storages& storages) {
  value.visit([&](const c10::IValue& inner) {
    if (inner.isTensor() && inner.toTensor().has_storage()) {
      storages.insert(inner.toTensor().storage().unsafeGetStorageImpl());
    }
    return false;  // go on with what it holds
  });
}

// True if an attribute may change to which no path leads: in a function that is called, or in an object.
bool hides_changes(Graph& graph) {
  bool hides = false;
  for_each_node(graph, [&](const Node& node) {
    const c10::Symbol kind = node.kind();
    hides = hides || kind == c10::prim::CallMethod || kind == c10::prim::CallFunction || kind == c10::prim::fork ||
            (kind == c10::prim::SetAttr && attribute_path(node).empty());
  });
  return hides;
}

bool is_constant_tensor(const Node& node) {
  return node.kind() == c10::prim::Constant && node.output()->type()->isSubtypeOf(*c10::TensorType::get());
}

// Returns the attribute's value that the node reads, or the constant that the node is.
c10::IValue value_of(const torch::jit::Module& module, const Node& node) {
  return is_constant_tensor(node) ? *torch::jit::toIValue(node.output())
                                  : attribute_value(module, attribute_path(node));
}

// Returns the memory that the graph may change by way of attributes and constants, and that of the attributes `kept`.
Storages changed_storages(const torch::jit::Module& module, const std::shared_ptr<Graph>& graph,
                          const std::vector<AttributePath>& kept) {
  Storages storages;
  for (const AttributePath& path : kept) add_storages(attribute_value(module, path), storages);
  const torch::jit::AliasDb aliases(graph, true);  // each read of an attribute has memory of its own
  for_each_node(*graph, [&](const Node& node) {
    const bool is_set = is_attribute_access(node, c10::prim::SetAttr);
    const bool is_constant = is_constant_tensor(node);
    if (!is_set && !is_constant && !is_attribute_access(node, c10::prim::GetAttr)) return;
    const bool is_tensor = is_constant || (!is_set && node.output()->type()->kind() == c10::TypeKind::TensorType);
    if (is_tensor && !aliases.hasOutputWriters(&node)) return;
    add_storages(value_of(module, node), storages);
  });
  return storages;
}

std::string name_of(const Node& node) {
  if (!is_constant_tensor(node)) return "self." + path_text(attribute_path(node));  // as freezing names it
  return node.output()->hasDebugName() ? node.output()->debugName() : "";
}

bool can_be_aside(const c10::IValue& value, const Storages& changed) {
  if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage()) return false;
  return changed.count(value.toTensor().storage().unsafeGetStorageImpl()) == 0;
}

}  // namespace

WeightsAside::WeightsAside(const torch::jit::Module& module, const std::shared_ptr<Graph>& graph,
                           const std::vector<AttributePath>& kept) {
  declare_operator();
  if (hides_changes(*graph)) return;
  const Storages changed = changed_storages(module, graph, kept);
  std::vector<Node*> reads;
  for_each_node(*graph, [&](Node& node) {
    if (is_attribute_access(node, c10::prim::GetAttr) || is_constant_tensor(node)) reads.push_back(&node);
  });
  std::map<const c10::TensorImpl*, Value*> inputs;
  for (Node* read : reads) {
    const c10::IValue value = value_of(module, *read);
    if (!can_be_aside(value, changed)) continue;
    Value*& input = inputs[value.toTensor().unsafeGetTensorImpl()];
    if (input == nullptr) {
      input = graph->addInput()->setType(c10::IntType::get());
      weights_.push_back({value.toTensor(), name_of(*read)});
    }
    Node* stand_in = graph->create(weight_kind(), {input})->insertBefore(read);
    stand_in->setSourceRange(read->sourceRange());
    read->output()->replaceAllUsesWith(stand_in->output());
    read->destroy();
  }
}

void WeightsAside::put_back(std::shared_ptr<Graph> graph) const {
  const size_t first = graph->inputs().size() - weights_.size();
  std::vector<Node*> stand_ins;
  {
    // Inserts all constants at one place: LibTorch renumbers the graph's nodes again and again for nodes put in at
    // changing places.
    const torch::jit::WithInsertPoint at_begin(*graph->nodes().begin());
    for (size_t i = 0; i < weights_.size(); ++i) {
      const std::vector<torch::jit::Use>& uses = graph->inputs()[first + i]->uses();
      if (uses.empty()) continue;
      Value* constant = graph->insertConstant(weights_[i].tensor.detach());
      if (!weights_[i].name.empty()) constant->setDebugName(weights_[i].name);
      for (const torch::jit::Use& use : uses) {
        use.user->output()->replaceAllUsesWith(constant);
        stand_ins.push_back(use.user);
      }
    }
  }
  for (Node* stand_in : stand_ins) stand_in->destroy();
  for (size_t i = 0; i < weights_.size(); ++i) graph->eraseInput(graph->inputs().size() - 1);
  if (!weights_.empty()) torch::jit::ConstantPropagation(graph, true);
}

}  // namespace nnapi_convert
