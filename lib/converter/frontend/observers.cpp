// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/observers.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

const auto kObserved = c10::Symbol::fromQualString("aten::fused_moving_avg_obs_fake_quant");

bool is_switch(const Node& node) {
  if (!is_attribute_access(node, c10::prim::GetAttr)) return false;
  const std::string& name = node.s(c10::attr::name);
  return name == "observer_enabled" || name == "fake_quant_enabled";
}

// True if a node may change the tensor, or hands it on to one that may.
bool may_be_switched(const Value& value) {
  for (const torch::jit::Use& use : value.uses()) {
    const c10::FunctionSchema* schema = use.user->maybeSchema();
    if (schema == nullptr || use.offset >= schema->arguments().size()) return true;
    const auto* alias = schema->arguments()[use.offset].alias_info();
    if (alias != nullptr && alias->isWrite()) return true;
    // A view of the switch, such as observer_enabled[0], may be changed, too.
    if (alias != nullptr && (use.user->outputs().size() != 1 || may_be_switched(*use.user->output()))) return true;
  }
  return false;
}

// Returns the switches by their paths, with all nodes that read them, without those that are set or may be changed.
std::map<AttributePath, std::vector<Node*>> unchanged_switches(Graph& graph) {
  std::map<AttributePath, std::vector<Node*>> switches;
  std::vector<AttributePath> changed;
  for_each_node(graph, [&](Node& node) {
    if (is_attribute_access(node, c10::prim::SetAttr)) changed.push_back(attribute_path(node));
    if (!is_switch(node)) return;
    const AttributePath path = attribute_path(node);
    switches[path].push_back(&node);
    if (may_be_switched(*node.output())) changed.push_back(path);
  });
  for (const AttributePath& path : changed) switches.erase(path);
  return switches;
}

std::optional<bool> is_on(Node* node, const char* name) {
  const auto value = known(node, name);
  if (!value || !value->isTensor() || value->toTensor().numel() != 1) return std::nullopt;
  return value->toTensor().item().toInt() != 0;
}

void settle(Node* node) {
  const auto observes = is_on(node, "observer_on"), rounds = is_on(node, "fake_quant_on");
  const auto by_rows = known(node, "per_row_fake_quant");
  if (!observes || *observes || !rounds || !by_rows) return;
  const auto given = [&](const char* name) { return argument(node, name); };
  if (!*rounds) return replace_by(node, {given("self")});
  PlainCalls plain(node);
  Value* result =
      by_rows->toBool()
          ? plain.insert("fake_quantize_per_channel_affine", {given("self"), given("scale"), given("zero_point"),
                                                              given("ch_axis"), given("quant_min"), given("quant_max")})
          : plain.insert("fake_quantize_per_tensor_affine",
                         {given("self"), given("scale"), given("zero_point"), given("quant_min"), given("quant_max")});
  replace_by(node, {result});
}

}  // namespace

void settle_observers(std::shared_ptr<Graph> graph, const torch::jit::Module& module) {
  const auto switches = unchanged_switches(*graph);
  if (switches.empty()) return;
  for (const auto& [path, nodes] : switches) {
    const c10::IValue value = attribute_value(module, path);
    if (!value.isTensor()) continue;
    for (Node* node : nodes) {
      const torch::jit::WithInsertPoint before(node);
      node->output()->replaceAllUsesWith(graph->insertConstant(value.toTensor().detach().clone()));
      node->destroy();
    }
  }
  torch::jit::ConstantPropagation(graph);  // branches of observers that are off go
  std::vector<Node*> observed;
  for_each_node(*graph, [&](Node& node) {
    if (node.kind() == kObserved) observed.push_back(&node);
  });
  for (Node* node : observed) settle(node);
}

}  // namespace nnapi_convert
