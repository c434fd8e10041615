// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/quantised_tables.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/ops/plain_calls.h"

namespace nnapi_convert {
namespace {

c10::IValue run_operator(const std::string& name, torch::jit::Stack arguments) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "").callBoxed(&arguments);
  return arguments.at(0);
}

// True for "quantized::embedding_4bit", "quantized::embedding_bag_byte_rowwise_offsets" and their like.
bool reads_quantised_table(const torch::jit::Node& node) {
  static const std::vector<std::string> kinds = {"quantized::embedding_byte",
                                                 "quantized::embedding_4bit",
                                                 "quantized::embedding_bag_byte",
                                                 "quantized::embedding_bag_4bit",
                                                 "quantized::embedding_bag_byte_rowwise_offsets",
                                                 "quantized::embedding_bag_4bit_rowwise_offsets",
                                                 "quantized::embedding_bag_2bit_rowwise_offsets"};
  const std::string kind = node.kind().toQualString();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool is_bag(const torch::jit::Node& node) {
  return node.schema().argumentIndexWithName("offsets").has_value();
}

// Returns how many indices the node takes: for a pruned table, those that its mapping has.
int64_t index_count(const c10::IValue& weight, const c10::IValue& mapping) {
  if (mapping.isTensor() && mapping.toTensor().numel() > 1) return mapping.toTensor().numel();
  return weight.isTensor() ? weight.toTensor().size(0)
                           : run_operator("quantized::embedding_bag_unpack", {weight}).toTensor().size(0);
}

// Returns the table's rows as the node itself reads them, each as a bag of its own; nothing where they are computed, or
// where the node can't be run.
std::optional<at::Tensor> float_table(torch::jit::Node* node) {
  const auto weight = known(node, "weight"), pruned = known(node, "pruned_weights");
  const std::optional<c10::IValue> mapping =
      is_bag(*node) ? known(node, "compressed_indices_mapping") : std::optional(c10::IValue());
  if (!weight || !pruned || !mapping) return std::nullopt;
  try {
    const bool is_pruned = pruned->toBool();
    const at::Tensor all =
        at::arange(index_count(*weight, is_pruned ? *mapping : c10::IValue()), at::TensorOptions(at::kLong));
    torch::jit::Stack arguments = {*weight, all};
    if (is_bag(*node)) {
      arguments.insert(arguments.end(),
                       std::initializer_list<c10::IValue>{all, false, 0, is_pruned, c10::IValue(), *mapping, false});
    } else {
      arguments.emplace_back(is_pruned);
    }
    return run_operator(node->kind().toQualString(), std::move(arguments)).toTensor().contiguous();
  } catch (const std::exception&) {
    return std::nullopt;  // the original raises this, too, when it runs
  }
}

// Sums the rows of a table for bags without offsets: each row of the indices is a bag.
torch::jit::Value* sum_of_rows(PlainCalls& plain, torch::jit::Node* node, torch::jit::Value* table) {
  torch::jit::Value* indices = argument(node, "indices");
  torch::jit::Value* rows = plain.insert("embedding", {table, indices});
  torch::jit::Value* factors = argument(node, "per_sample_weights");
  if (!factors->mustBeNone()) {
    torch::jit::Value* shaped = plain.insert("reshape_as", {factors, indices});
    rows = plain.insert("mul", {rows, plain.insert("unsqueeze", {shaped, -1})});
  }
  return plain.insert("sum", {rows, c10::IValue(std::vector<int64_t>{1})});
}

// Makes float bags. Quantised bags are sums, whatever their `mode` says. Returns null where it isn't known whether
// there are offsets.
torch::jit::Value* bags_of(PlainCalls& plain, torch::jit::Node* node, torch::jit::Value* table) {
  torch::jit::Value *offsets = argument(node, "offsets"), *factors = argument(node, "per_sample_weights");
  const auto is_known = [](const torch::jit::Value& optional) {
    return optional.mustBeNone() || optional.type()->kind() != c10::TypeKind::OptionalType;
  };
  if (!is_known(*offsets) || !is_known(*factors)) return nullptr;
  if (offsets->mustBeNone()) return sum_of_rows(plain, node, table);
  torch::jit::Value* all = plain.insert("embedding_bag", {table, argument(node, "indices"), offsets, false, 0, false,
                                                          factors, argument(node, "include_last_offset")});
  torch::jit::Value* bags = all->node()->input(0);  // first element of the tuple of results
  all->node()->destroy();
  return bags;
}

void replace_by_float(torch::jit::Node* node) {
  const auto table = float_table(node);
  if (!table) return;
  PlainCalls plain(node);
  torch::jit::Value* constant = plain.constant(*table);
  torch::jit::Value* result =
      is_bag(*node) ? bags_of(plain, node, constant) : plain.insert("embedding", {constant, argument(node, "indices")});
  if (result == nullptr) return;
  result->setType(node->output()->type());
  node->output()->replaceAllUsesWith(result);
  node->destroy();
}

}  // namespace

void remove_quantised_tables(torch::jit::Graph& graph) {
  std::vector<torch::jit::Node*> nodes;
  for_each_node(graph, [&](torch::jit::Node& node) {
    if (reads_quantised_table(node)) nodes.push_back(&node);
  });
  for (torch::jit::Node* node : nodes) replace_by_float(node);
}

bool has_quantised_tables(const torch::jit::Module& module) {
  bool is_found = false;
  for (const std::shared_ptr<torch::jit::Graph>& graph : saved_graphs(module)) {
    for_each_node(*graph, [&](const torch::jit::Node& node) { is_found = is_found || reads_quantised_table(node); });
  }
  return is_found;
}

void warn_of_quantised_tables(Diagnostics& diagnostics) {
  diagnostics.warn(
      "the model has embeddings whose rows are rounded to 8 bits or fewer, which NNAPI has no operations for: they "
      "become float tables of the same values, which take four bytes each");
}

}  // namespace nnapi_convert
