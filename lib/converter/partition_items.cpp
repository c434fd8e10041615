#include "lib/converter/partition_items.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/converter/node_reads.h"
#include "lib/converter/segment.h"
#include "lib/converter/state.h"
#include "lib/nnapi/cost.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool changes_in_place(Node& node) {
  bool changes = false;
  for_each_node(node, [&](Node& each) {
    const c10::FunctionSchema* schema = const_cast<const Node&>(each).maybeSchema();
    changes = changes || (schema != nullptr && schema->is_mutable());
  });
  return changes;
}

bool has_effects(Node& node) {
  bool has = false;
  for_each_node(node, [&](Node& each) {
    const bool reads_state = each.kind() == c10::prim::GetAttr && !gives_module(each);
    has = has || each.hasSideEffects() || each.isNondeterministic() || reads_state;
  });
  return has;
}

const Dims* fixed_sizes(const Value* value, const TypeMap& types) {
  const auto found = types.find(value);
  const auto* type = found == types.end() ? nullptr : std::get_if<TensorType>(&found->second);
  return type != nullptr && all_fixed(type->dims) ? &type->dims : nullptr;
}

// Multiply-adds of what may have no lowering; nothing where the sizes aren't known.
std::optional<int64_t> multiply_adds(const Node& node, const TypeMap& types) {
  static const std::set<std::string> convolutions = {"aten::_convolution", "aten::convolution", "aten::conv1d",
                                                     "aten::conv2d", "aten::conv3d"};
  static const std::set<std::string> products = {"aten::matmul", "aten::mm", "aten::bmm", "aten::linear"};
  const std::string kind = node.kind().toQualString();
  const bool is_convolution = convolutions.count(kind) != 0;
  if (!is_convolution && products.count(kind) == 0) return 0;
  const Dims* output = fixed_sizes(node.output(), types);
  if (output == nullptr) return std::nullopt;
  const int64_t elements = c10::multiply_integers(fixed_values(*output));
  if (is_convolution) {
    const auto weight = torch::jit::toIValue(node.input(1));
    if (!weight || !weight->isTensor()) return std::nullopt;
    return elements * (weight->toTensor().numel() / std::max<int64_t>(weight->toTensor().size(0), 1));
  }
  const Dims* first = fixed_sizes(node.input(0), types);
  return first == nullptr || first->empty() ? std::nullopt : std::optional(elements * first->back().value());
}

class Items {
 public:
  Items(torch::jit::Block& block, const PartitionGraph& graph)
      : block_(block), types_(graph.types), options_(graph.options), aliases_(graph.aliases.get()) {}

  std::vector<PartitionItem> run() {
    for (Node* node : block_.nodes()) {
      if (node->kind() != c10::prim::Constant && !is_glue(*node) && !gives_module(*node)) add(node);
    }
    for (PartitionItem& item : items_) judge(item);
    keep_changed_values();
    for (size_t i = 0; i < items_.size(); ++i) find_needs(i);
    keep_order_of_effects();
    return std::move(items_);
  }

 private:
  void add(Node* node) {
    if (node->kind() == c10::prim::ListUnpack) {
      const auto maker = item_of_.find(node->input()->node());
      if (maker != item_of_.end()) {
        items_[maker->second].nodes.push_back(node);
        item_of_[node] = maker->second;
        return;
      }
    }
    item_of_[node] = items_.size();
    PartitionItem item;
    item.nodes.push_back(node);
    item.is_pinned = std::string(node->kind().ns().toUnqualString()) == "nnapi_convert";
    items_.push_back(std::move(item));
  }

  // The rules decide: what they lower by itself to a valid model goes to NNAPI.
  void judge(PartitionItem& item) {
    Node& node = *item.nodes[0];
    Diagnostics diagnostics;
    try {
      if (has_effects(node) || !node.blocks().empty()) {
        throw ConvertError(ExitCode::kNotConvertible, "control flow, or an effect whose order has to be kept");
      }
      Segment segment = extract_segment(item.nodes, types_);
      const NnapiPart part = lower_segment(segment, options_, diagnostics);
      item.macs = nnapi::multiply_adds(part.model);
      if (!part.model.operations.empty()) check_part(part, options_.feature_level);
    } catch (const ConvertError& error) {
      if (!diagnostics.refusals.empty()) {
        item.reason = diagnostics.refusals[0];
      } else {
        item.reason = Refusal{source_of(node), node.kind().toQualString(), error.what(), "", ""};
      }
    }
    const std::optional<int64_t> macs = multiply_adds(node, types_);
    item.macs = std::max(item.macs, macs.value_or(0));
    item.has_unknown_macs = item.macs == 0 && !macs;
  }

  // What shares memory with a value that is changed in place can't be a copy from NNAPI.
  void keep_changed_values() {
    if (aliases_ == nullptr) return;
    for (PartitionItem& item : items_) {
      const auto outputs = item.nodes[0]->outputs();
      if (item.reason || std::none_of(outputs.begin(), outputs.end(),
                                      [&](const Value* output) { return aliases_->hasWriters(output); })) {
        continue;
      }
      const Node& node = *item.nodes[0];
      item.reason = Refusal{source_of(node), node.kind().toQualString(), "its result is changed in place later", "",
                            "write it without the underscore"};
    }
  }

  void add_needs(const Value* value, std::set<size_t>& needs) const {
    const Node* maker = value->node();
    if (is_glue(*maker)) {
      for (const Value* input : maker->inputs()) add_needs(input, needs);
      return;
    }
    const auto found = item_of_.find(maker);
    if (found != item_of_.end()) needs.insert(found->second);
  }

  void find_needs(size_t number) {
    std::set<size_t> needs;
    for (Node* node : items_[number].nodes) {
      for_each_read(*node, [&](const Value* value) { add_needs(value, needs); });
    }
    needs.erase(number);
    items_[number].needs.assign(needs.begin(), needs.end());
  }

  // Effects come one after the other; a change in place comes after all before it and before all after it.
  void keep_order_of_effects() {
    std::optional<size_t> effect, change;
    for (size_t i = 0; i < items_.size(); ++i) {
      Node& node = *items_[i].nodes[0];
      if (change) items_[i].needs.push_back(*change);
      if (changes_in_place(node)) {
        for (size_t before = change.value_or(0); before < i; ++before) items_[i].needs.push_back(before);
        change = i;
      }
      if (!has_effects(node)) continue;
      if (effect) items_[i].needs.push_back(*effect);
      effect = i;
    }
  }

  torch::jit::Block& block_;
  const TypeMap& types_;
  const ConvertOptions& options_;
  const torch::jit::AliasDb* aliases_;
  std::vector<PartitionItem> items_;
  std::unordered_map<const Node*, size_t> item_of_;
};

}  // namespace

PartitionGraph partition_graph(const NormalisedModel& model, const TypeMap& types, const ConvertOptions& options) {
  PartitionGraph graph{types, options, nullptr};
  bool changes = false;
  for (Node* node : model.graph->nodes()) changes = changes || changes_in_place(*node);
  if (changes) graph.aliases = std::make_unique<torch::jit::AliasDb>(model.graph);
  return graph;
}

std::vector<PartitionItem> partition_items(torch::jit::Block& block, const PartitionGraph& graph) {
  return Items(block, graph).run();
}

}  // namespace nnapi_convert
