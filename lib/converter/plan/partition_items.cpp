// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/partition_items.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/frontend/quant_mode.h"
#include "lib/converter/frontend/row_wise.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/random_numbers.h"
#include "lib/converter/plan/node_cost.h"
#include "lib/converter/plan/node_form.h"
#include "lib/converter/plan/segment.h"
#include "lib/nnapi/cost.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

// Returns a message of several lines as one line.
std::string on_one_line(const std::string& message) {
  std::istringstream lines(message);
  std::string text;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    text += (count == 0 ? "" : count == 1 ? ": " : "; ") + line.substr(begin);
  }
  return text;
}

using torch::jit::Node;
using torch::jit::Value;

// The number of rows with which a row-by-row operation is tried.
constexpr int64_t kFewRows = 2;

// True if the operator may write to the argument, or to what it holds.
bool may_write(const c10::AliasInfo& alias) {
  const auto& contained = alias.containedTypes();
  return alias.isWrite() || std::any_of(contained.begin(), contained.end(), may_write);
}

bool changes_in_place(Node& node) {
  bool changes = false;
  for_each_node(node, [&](Node& each) {
    const c10::FunctionSchema* schema = const_cast<const Node&>(each).maybeSchema();
    changes = changes || (schema != nullptr && schema->is_mutable());
  });
  return changes;
}

// Returns the values that the node, or nodes in its blocks, may change in place.
std::vector<Value*> changed_values(Node& node) {
  std::vector<Value*> changed;
  for_each_node(node, [&](Node& each) {
    const c10::FunctionSchema* schema = const_cast<const Node&>(each).maybeSchema();
    if (schema == nullptr || !schema->is_mutable()) return;
    for (size_t i = 0; i < each.inputs().size(); ++i) {
      const auto* alias = i < schema->arguments().size() ? schema->arguments()[i].alias_info() : nullptr;
      if (schema->is_vararg() || (alias != nullptr && may_write(*alias))) changed.push_back(each.input(i));
    }
  });
  return changed;
}

// An attribute, identified by the object that has it: several paths may lead to one object.
using Attribute = std::pair<const void*, std::string>;

Attribute attribute_of(const Node& access, const torch::jit::Module& module) {
  const AttributePath path = attribute_path(access);
  if (path.size() == 1) return {module._ivalue().get(), path[0]};
  const c10::IValue owner = attribute_value(module, {path.begin(), path.end() - 1});
  return {owner.toObject().get(), path.back()};
}

bool has_effects(Node& node) {
  bool has = false;
  for_each_node(node, [&](Node& each) { has = has || (each.blocks().empty() && reason_of_effect(each)); });
  return has;
}

// True if the node leaves a trace that is visible after a later node raised an error: it prints, sets an attribute or
// draws random numbers.
bool leaves_trace(Node& node) {
  bool leaves = false;
  for_each_node(node, [&](Node& each) {
    const bool may_leave = each.kind() == c10::prim::SetAttr || each.hasSideEffects() || draws_random_numbers(each);
    leaves = leaves || (may_leave && each.kind() != c10::prim::RaiseException);
  });
  return leaves;
}

// True for a node that reads elements at an index that is no constant: NNAPI, too, fails for some values. Where
// elements are written, the rules compare indices with places.
bool reads_index(const Node& node) {
  const OpTraits& traits = find_traits(node);
  const bool is_element = traits.index == Index::kAlongDim || traits.index == Index::kRows ||
                          traits.index == Index::kPositions || traits.index == Index::kElement;
  if (!is_element || traits.sizes == ResultSizes::kLikeSelf) return false;
  const c10::FunctionSchema& schema = node.schema();
  const auto place = schema.argumentIndexWithName("index");
  const auto places = place ? place : schema.argumentIndexWithName("indices");
  return places && !torch::jit::toIValue(node.input(static_cast<size_t>(*places)));
}

// Multiply-adds of a node.
struct NodeCost {
  Count macs = 0;
  bool is_estimated = false;
};

// Returns the multiply-adds, with the estimates of sizes that depend on values.
NodeCost cost_of(const Node& node, const InferredTypes& inferred) {
  NodeCost cost;
  cost.macs = macs_of(node, [&](const Value* value) -> std::optional<std::vector<int64_t>> {
    const TensorType* type = tensor_type_of(value, inferred.types);
    if (type == nullptr) return std::nullopt;
    std::vector<int64_t> sizes;
    for (const Dim& dim : type->dims) sizes.push_back(estimated(dim, inferred.runtime_sizes));
    cost.is_estimated = cost.is_estimated || !all_fixed(type->dims);
    return sizes;
  });
  return cost;
}

// True if all results are new tensors. Returns false for fill and zero: such a tensor is not worth a call of NNAPI.
bool makes_new_tensors(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const bool fills = find_traits(node).has(Fact::kFills);
  return schema != nullptr && !fills &&
         std::all_of(schema->returns().begin(), schema->returns().end(),
                     [](const c10::Argument& result) { return result.alias_info() == nullptr; });
}

// Returns the arguments of forward, and what the graph reads from attributes.
std::vector<Value*> values_from_outside(torch::jit::Graph& graph) {
  std::vector<Value*> values(graph.inputs().begin() + 1, graph.inputs().end());
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == c10::prim::GetAttr && !gives_module(node)) values.push_back(node.output());
  });
  return values;
}

class Items {
 public:
  Items(torch::jit::Block& block, const PartitionGraph& graph)
      : block_(block),
        inferred_(graph.inferred),
        options_(graph.options),
        module_(graph.module),
        kept_(graph.kept),
        aliases_(graph.aliases.get()),
        outside_(values_from_outside(*block.owningGraph())) {}

  std::vector<PartitionItem> run() {
    for (Node* node : block_.nodes()) {
      if (node->kind() != c10::prim::Constant && !is_glue(*node) && !gives_module(*node)) add(node);
    }
    for (PartitionItem& item : items_) judge(item);
    keep_changed_values();
    for (size_t i = 0; i < items_.size(); ++i) find_needs(i);
    keep_order_of_effects();
    keep_order_of_errors();
    return std::move(items_);
  }

 private:
  void add(Node* node) {
    if (node->kind() == c10::prim::ListUnpack && !may_be_changed(*node->input())) {
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

  // Sets the item's reason to stay on the CPU. A node that the rules lower alone to a valid model has none.
  void judge(PartitionItem& item) {
    Node& node = *item.nodes[0];
    if (const auto effect = reason_of_effect(node)) {
      item.reason = refusal(node, *effect);
    } else if (quantises_on_cpu(node)) {
      item.reason = refusal(node, "runs on the CPU with --quant core");
    } else {
      try_form(item);
    }
    const auto kept = kept_.find(&node);
    if (!item.reason && kept != kept_.end()) item.reason = kept->second;
    item.cost = cost_kind(node);
    if (item.cost == CostKind::kUnknown && item.computes) return;  // keeps the count of its NNAPI operations as `macs`
    // Counts the original's operator: its form for NNAPI may multiply more, such as a resize by matrices.
    const NodeCost cost = cost_of(node, inferred_);
    if (cost.macs.is_known() || item.macs == 0) item.macs = cost.macs;
    item.is_estimated = item.is_estimated || cost.is_estimated;
  }

  static Refusal refusal(const Node& node, const std::string& why) {
    return {source_of(node), node.kind().toQualString(), on_one_line(why), "", ""};
  }

  // Tries whether NNAPI takes the node. A form that NNAPI took before is taken without another trial. A refused form is
  // tried for each of its nodes: the reason names the node's line.
  void try_form(PartitionItem& item) {
    const auto form = item.nodes.size() == 1 ? form_of(*item.nodes[0], inferred_.types) : std::nullopt;
    const auto known = form ? lowered_.find(*form) : lowered_.end();
    if (known != lowered_.end()) {
      const PartitionItem& like = items_[known->second];
      item.rows = like.rows;
      item.macs = like.macs;
      item.is_estimated = like.is_estimated;
      item.computes = like.computes;
      return;
    }
    try_lowering(item);
    if (form && !item.reason) lowered_.emplace(*form, static_cast<size_t>(&item - items_.data()));
  }

  void try_lowering(PartitionItem& item) {
    Node& node = *item.nodes[0];
    Diagnostics diagnostics;
    try {
      item.rows = rows_of(node, inferred_.types);
      const auto few = item.rows ? std::optional<SegmentRows>({*item.rows, kFewRows}) : std::nullopt;
      Segment segment = extract_segment(item.nodes, inferred_.types, few);
      const Offer offer = lower_segment(segment, options_, diagnostics);
      if (offer.refusal) return refuse(item, *offer.refusal);
      const NnapiPart& part = offer.part;
      item.macs = nnapi::multiply_adds(part.model);
      if (item.rows) {
        item.macs = item.macs.divided_by(kFewRows) * estimated(to_dim(*item.rows), inferred_.runtime_sizes);
        item.is_estimated = true;
      }
      item.computes = !part.model.operations.empty();
      const auto why = item.computes ? refusal_of(part, options_) : std::nullopt;
      if (why) refuse(item, *why);
    } catch (const UnknownType& error) {
      refuse(item, {error.what(), {}, {}, error.since()});
    } catch (const ConvertError& error) {
      refuse(item, {error.what()});
    }
  }

  void refuse(PartitionItem& item, const SegmentRefusal& why) const {
    const Node& node = *item.nodes[0];
    if (!why.nodes.empty()) {
      item.reason = why.nodes[0];
      return;
    }
    const auto without_tensors = why.device.empty() ? reason_without_tensors(node) : std::nullopt;
    item.reason = refusal(node, without_tensors.value_or(reason_of(why, options_)));
    if (!without_tensors) item.since = why.since;
  }

  // Keeps nodes on the CPU whose results share memory with a tensor that is changed in place: NNAPI returns copies. A
  // tensor that an operator newly makes may come from NNAPI: its later views are made of NNAPI's copy.
  void keep_changed_values() {
    if (aliases_ == nullptr) return;
    for (PartitionItem& item : items_) {
      const Node& node = *item.nodes[0];
      const auto outputs = node.outputs();
      if (item.reason || (item.computes && makes_new_tensors(node)) ||
          std::none_of(outputs.begin(), outputs.end(),
                       [&](const Value* output) { return aliases_->hasWriters(output); })) {
        continue;
      }
      item.reason = Refusal{source_of(node), node.kind().toQualString(), "its result is changed in place later", "",
                            "make a new tensor of it"};
    }
  }

  void add_needs(const Value* value, std::set<size_t>& needs, std::set<size_t>& number_needs) const {
    const Node* maker = value->node();
    if (is_glue(*maker)) {
      for (const Value* input : maker->inputs()) add_needs(input, needs, number_needs);
      return;
    }
    const auto found = item_of_.find(maker);
    if (found == item_of_.end()) return;
    const auto type = inferred_.types.find(value);
    const bool is_number = type != inferred_.types.end() && std::holds_alternative<Dims>(type->second);
    (is_number ? number_needs : needs).insert(found->second);
  }

  void find_needs(size_t number) {
    PartitionItem& item = items_[number];
    std::set<size_t> needs, number_needs;
    for (Node* node : item.nodes) {
      for_each_read(*node, [&](const Value* value) { add_needs(value, needs, number_needs); });
    }
    if (item.reason) needs.insert(number_needs.begin(), number_needs.end());
    needs.erase(number);
    item.needs.assign(needs.begin(), needs.end());
    if (!item.reason) item.number_needs.assign(number_needs.begin(), number_needs.end());
  }

  // True if the item may raise an error. An item on NNAPI may do so only for an index.
  static bool may_raise(const PartitionItem& item) {
    const Node& node = *item.nodes[0];
    return (item.reason && !is_attribute_access(node, c10::prim::GetAttr)) || reads_index(node);
  }

  // True if the item changes an attribute's tensor or an argument of forward in place.
  bool changes_outside(const PartitionItem& item) const {
    if (aliases_ == nullptr || !changes_in_place(*item.nodes[0])) return false;
    return aliases_->mayContainAlias(changed_values(*item.nodes[0]), outside_);
  }

  // Keeps the order of items that leave traces and items that may raise errors, so that after an error the same traces
  // are visible as in the original.
  void keep_order_of_errors() {
    std::optional<size_t> trace;
    std::vector<size_t> raising;
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool leaves = leaves_trace(*items_[i].nodes[0]) || changes_outside(items_[i]);
      if (!leaves && !may_raise(items_[i])) continue;
      if (trace) items_[i].needs.push_back(*trace);
      if (leaves) {
        items_[i].needs.insert(items_[i].needs.end(), raising.begin(), raising.end());
        raising.clear();
        trace = i;
      } else {
        raising.push_back(i);
      }
    }
  }

  // Keeps the order of effects among each other, and of in-place changes with the items that may read the same memory.
  void keep_order_of_effects() {
    keep_order_of_changes();
    Effects effects;
    for (size_t i = 0; i < items_.size(); ++i) {
      Node& node = *items_[i].nodes[0];
      if (has_effects(node)) keep_order(i, node, effects);
    }
  }

  void keep_order_of_changes() {
    constexpr size_t kMostPairs = 200'000;  // pairs of a change and another item, whose memory is compared
    std::vector<size_t> changes;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (changes_in_place(*items_[i].nodes[0])) changes.push_back(i);
    }
    if (changes.empty()) return;
    if (aliases_ == nullptr || changes.size() * items_.size() > kMostPairs) return keep_all_in_order(changes);
    std::vector<std::vector<Value*>> touched;
    for (const PartitionItem& item : items_) touched.push_back(touched_values(item));
    for (const size_t change : changes) {
      const std::vector<Value*> changed = changed_values(*items_[change].nodes[0]);
      for (size_t i = 0; i < items_.size(); ++i) {
        if (i == change || !aliases_->mayContainAlias(changed, touched[i])) continue;
        items_[std::max(i, change)].needs.push_back(std::min(i, change));
      }
    }
  }

  // Runs each change after all items before it, and before all items after it.
  void keep_all_in_order(const std::vector<size_t>& changes) {
    std::optional<size_t> change;
    auto next = changes.begin();
    for (size_t i = 0; i < items_.size(); ++i) {
      if (change) items_[i].needs.push_back(*change);
      if (next == changes.end() || *next != i) continue;
      for (size_t before = change.value_or(0); before < i; ++before) items_[i].needs.push_back(before);
      change = i;
      ++next;
    }
  }

  // Returns the values that the item reads or gives.
  static std::vector<Value*> touched_values(const PartitionItem& item) {
    std::vector<Value*> values;
    for (Node* node : item.nodes) {
      for_each_read(*node, [&](Value* value) { values.push_back(value); });
      for_each_node(*node,
                    [&](Node& each) { values.insert(values.end(), each.outputs().begin(), each.outputs().end()); });
    }
    return values;
  }

  // The items with effects so far: the newest one whose order with all others matters, and those after it that read or
  // set an attribute.
  struct Effects {
    std::optional<size_t> newest;
    std::map<Attribute, size_t> accesses;  // the newest access to each attribute
    std::vector<size_t> since;
  };

  // Keeps the order of an item with effects. Reading or setting an attribute keeps its order only with accesses to the
  // same attribute, and with effects of other kinds.
  void keep_order(size_t number, const Node& node, Effects& effects) {
    std::vector<size_t>& needs = items_[number].needs;
    if (effects.newest) needs.push_back(*effects.newest);
    if (is_attribute_access(node, c10::prim::GetAttr) || is_attribute_access(node, c10::prim::SetAttr)) {
      const auto [access, is_first] = effects.accesses.try_emplace(attribute_of(node, module_), number);
      if (!is_first) needs.push_back(std::exchange(access->second, number));
      effects.since.push_back(number);
    } else {
      needs.insert(needs.end(), effects.since.begin(), effects.since.end());
      effects = {number, {}, {}};
    }
  }

  torch::jit::Block& block_;
  const InferredTypes& inferred_;
  const PlanOptions& options_;
  const torch::jit::Module& module_;
  const NodesKeptForOrder& kept_;
  const torch::jit::AliasDb* aliases_;
  std::vector<Value*> outside_;
  std::vector<PartitionItem> items_;
  std::unordered_map<const Node*, size_t> item_of_;
  std::unordered_map<std::string, size_t> lowered_;  // items by form_of()
};

}  // namespace

PartitionGraph partition_graph(const NormalisedModel& model, const InferredTypes& inferred, const PlanOptions& options,
                               const NodesKeptForOrder& kept) {
  PartitionGraph graph{inferred, options, model.frozen, kept, nullptr};
  bool changes = false;
  for (Node* node : model.graph->nodes()) changes = changes || changes_in_place(*node);
  if (changes) graph.aliases = std::make_unique<torch::jit::AliasDb>(model.graph);
  return graph;
}

std::vector<PartitionItem> partition_items(torch::jit::Block& block, const PartitionGraph& graph) {
  return Items(block, graph).run();
}

}  // namespace nnapi_convert
