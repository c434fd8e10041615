// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/memory_order.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/frontend/memory_layout.h"
#include "lib/converter/graph/memory_reads.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/shared_memory.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

bool is_of(const Node& node, const std::set<std::string>& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

// True for operators that give a view or a copy, as the argument's order needs.
bool copies_by_order(const Node& node) {
  static const std::set<std::string> kinds = {"aten::contiguous", "aten::flatten",    "aten::ravel",
                                              "aten::reshape",    "aten::reshape_as", "aten::to"};
  return is_of(node, kinds);
}

bool scatters_by_order(const Node& node) {
  return node.kind() == c10::Symbol::aten("as_strided_scatter");
}

// True if a copy of the tensor has PyTorch's order: as_strided_scatter() writes into one, which has the order of a
// tensor without gaps.
bool has_plain_copy(MemoryLayouts& layouts, const Value& tensor) {
  const auto made_up = layouts.like(tensor);
  return made_up && made_up->clone().is_contiguous();
}

bool changes_any_in_place(torch::jit::Graph& graph) {
  bool changes = false;
  for_each_node(graph, [&](const Node& node) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    changes = changes || (schema != nullptr && schema->is_mutable());
  });
  return changes;
}

bool may_change(const Node& node, size_t argument) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || argument >= schema->arguments().size()) return false;
  const c10::AliasInfo* alias = schema->arguments()[argument].alias_info();
  return alias != nullptr && alias->isWrite();
}

// A tensor that NNAPI gives in another order than the original.
struct Reordered {
  Value* value;
  const Node* reader;  // the node that reads its order
  bool is_changed;     // whether it is changed in place
};

class OrderReads {
 public:
  OrderReads(NormalisedModel& model, InferredTypes& inferred)
      : model_(model),
        types_(inferred.types),
        layouts_(inferred.types),
        changes_tensors_(changes_any_in_place(*model.graph)) {}

  NodesKeptForOrder run(Diagnostics& diagnostics) {
    for_each_node(*model_.graph, [&](Node& node) { find_reads(node); });
    for (const Reordered& base : reordered_) restore(base);
    if (assumes_order_) {
      diagnostics.warn(
          {"reads the order of a tensor in memory: this is as for inputs in PyTorch's own order, that is "
           "contiguous ones",
           source_of(*assumes_order_), assumes_order_->kind().toQualString(), "", 0});
    }
    return std::move(kept_);
  }

 private:
  void find_reads(Node& node) {
    if (node.inputs().empty()) return;
    const bool is_scatter = scatters_by_order(node) && !has_plain_copy(layouts_, *node.input(0));
    if (is_scatter) keep(node, node);
    const bool copies =
        copies_by_order(node) && !changes_dtype(node) && (is_changed(*node.input(0)) || is_changed(*node.output()));
    if (!reads_memory_order(node) && !is_scatter && !copies) return;
    reader_ = &node;
    const bool takes_two = node.inputs().size() > 1 && node.input(1)->type()->kind() == c10::TypeKind::TensorType;
    for (size_t i = 0; i < (takes_two ? 2U : 1U); ++i) need(node, i);
  }

  // True for a cast that makes a copy, whatever the order.
  bool changes_dtype(const Node& node) const {
    const TensorType* from = tensor_type_of(node.input(0), types_);
    const TensorType* to = tensor_type_of(node.output(), types_);
    return from != nullptr && to != nullptr && from->dtype != to->dtype;
  }

  // True if a node may change the tensor's memory in place.
  bool is_changed(Value& tensor) {
    if (!changes_tensors_) return false;
    if (!memory_) memory_.emplace(*model_.graph, model_.frozen);
    return memory_->is_written(tensor);
  }

  // Notes that the order of the argument matters, and follows it to where the tensor is made.
  void need(Node& user, size_t argument) {
    Value* value = user.input(argument);
    if (!holds_tensors(value->type())) return;
    uses_[value].push_back({&user, argument});
    if (!needed_.insert(value).second) return;
    Node& maker = *value->node();
    if (value->type()->kind() != c10::TypeKind::TensorType) need_changes(*value);
    if (maker.kind() == c10::prim::Param) return need_at_loop(*value);
    if (maker.kind() == c10::prim::If || maker.kind() == c10::prim::Loop) return need_from_blocks(*value);
    if (maker.kind() == c10::prim::GetAttr) return need_state(maker);
    if (maker.kind() == c10::prim::Constant) return;
    need_result(*value);
  }

  void need_result(Value& value) {
    Node& maker = *value.node();
    const auto made_up = layouts_.like(value);
    if (made_up) {
      if (const TorchValue* viewed = layouts_.viewed(value)) {
        keep(maker, *reader_);
        return need(maker, argument_of(maker, *viewed));
      }
      if (has_whole_memory(*made_up) && made_up->is_non_overlapping_and_dense()) {
        if (assumes_order_ == nullptr) assumes_order_ = reader_;
        if (!made_up->is_contiguous()) reordered_.push_back({&value, reader_, is_changed(value)});
        return;
      }
    }
    if (!made_up && is_contiguous_in_any_size(value)) return;
    keep(maker, *reader_);
    for (size_t i = 0; i < maker.inputs().size(); ++i) {
      if (made_up || may_hand_on(maker, i)) need(maker, i);
    }
  }

  bool is_contiguous_in_any_size(const Value& value) {
    if (tensor_type_of(&value, types_) == nullptr) return false;
    if (!contiguous_) contiguous_.emplace(types_);
    return contiguous_->contains(value);
  }

  // False for an argument that can't be the tensor of which the node's result, with unknown sizes, is a view.
  static bool may_hand_on(const Node& maker, size_t argument) {
    const c10::FunctionSchema* schema = maker.maybeSchema();
    if (schema == nullptr || argument >= schema->arguments().size()) return true;
    const auto& returns = schema->returns();
    const bool is_view = std::any_of(returns.begin(), returns.end(),
                                     [](const c10::Argument& result) { return result.alias_info() != nullptr; });
    return !is_view || schema->arguments()[argument].alias_info() != nullptr;
  }

  static size_t argument_of(const Node& node, const TorchValue& input) {
    const auto inputs = node.inputs();
    return static_cast<size_t>(std::find(inputs.begin(), inputs.end(), &input) - inputs.begin());
  }

  // Notes that the order of all values matters that are put into a list, dict or object.
  void need_changes(Value& container) {
    for (const torch::jit::Use& use : container.uses()) {
      if (!may_change(*use.user, use.offset)) continue;
      for (size_t i = 0; i < use.user->inputs().size(); ++i) {
        if (i != use.offset) need(*use.user, i);
      }
    }
  }

  // Follows an input of a loop's body. The caller's own tensors are handed on as they are.
  void need_at_loop(Value& value) {
    Block& block = *value.node()->owningBlock();
    Node* loop = block.owningNode();
    if (loop == nullptr || loop->kind() != c10::prim::Loop || value.offset() == 0) return;
    need(*loop, value.offset() + 1);  // inputs 0 and 1: number of rounds, first condition
    need(*block.return_node(), value.offset());
  }

  void need_from_blocks(Value& value) {
    Node& maker = *value.node();
    const bool is_loop = maker.kind() == c10::prim::Loop;
    for (Block* block : maker.blocks()) need(*block->return_node(), value.offset() + (is_loop ? 1 : 0));
    if (is_loop) need(maker, value.offset() + 2);
  }

  // Follows a read of an attribute to all that set one of its name: attributes of one name may be one attribute.
  void need_state(const Node& read) {
    const std::string& name = read.s(c10::attr::name);
    std::vector<Node*> writes;
    for_each_node(*model_.graph, [&](Node& node) {
      if (node.kind() == c10::prim::SetAttr && node.s(c10::attr::name) == name) writes.push_back(&node);
    });
    for (Node* write : writes) need(*write, 1);
  }

  void keep(const Node& node, const Node& reader) {
    const std::string where = source_of(reader);
    kept_.try_emplace(&node, Refusal{source_of(node), node.kind().toQualString(),
                                     fmt::format("{}{} reads the order of its result in memory",
                                                 reader.kind().toQualString(), where.empty() ? "" : " at " + where),
                                     "", ""});
  }

  // Inserts nodes behind the base that give the tensor in the original's order, for those who need it.
  void restore(const Reordered& reordered) {
    Value& base = *reordered.value;
    const at::Tensor like = *layouts_.like(base);
    const std::vector<int64_t> strides = like.strides().vec();
    std::vector<int64_t> order(strides.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
    });
    torch::jit::Graph& graph = *model_.graph;
    const torch::jit::WithInsertPoint here(base.node()->next());
    std::vector<Node*> nodes;
    const auto insert = [&](const char* kind, const std::vector<torch::jit::NamedValue>& arguments) {
      Value* result = graph.insert(c10::Symbol::aten(kind), arguments);
      nodes.push_back(result->node());
      return result;
    };
    Value* turned = insert("permute", {&base, graph.insertConstant(order)});
    Value* laid_out = insert("contiguous", {turned});
    Value* restored = insert("as_strided", {laid_out, graph.insertConstant(like.sizes().vec()),
                                            graph.insertConstant(strides), graph.insertConstant(int64_t{0})});
    add_types(base, order, {turned, laid_out}, *restored);
    for (Node* node : nodes) {
      node->setSourceRange(base.node()->sourceRange());
      node->setScope(base.node()->scope());
      keep(*node, *reordered.reader);
    }
    hand_over(reordered, *restored, *nodes.front());
  }

  void add_types(const Value& base, const std::vector<int64_t>& order, const std::vector<Value*>& turned,
                 const Value& restored) {
    const auto type = types_.find(&base);
    const TensorType* own = type == types_.end() ? nullptr : std::get_if<TensorType>(&type->second);
    if (own == nullptr) return;
    TensorType other = *own;
    for (size_t i = 0; i < order.size(); ++i) other.dims[i] = own->dims[static_cast<size_t>(order[i])];
    const TensorType same = *own;  // inserting moves the map's elements
    for (const Value* value : turned) types_[value] = other;
    types_[&restored] = same;
  }

  // Hands the restored tensor to the readers of the order. A tensor that is changed in place has one memory for all
  // readers.
  void hand_over(const Reordered& reordered, Value& restored, const Node& first) {
    Value& base = *reordered.value;
    if (!reordered.is_changed) {
      for (const torch::jit::Use& use : uses_.at(&base)) use.user->replaceInput(use.offset, &restored);
      return;
    }
    const std::vector<torch::jit::Use> uses = base.uses();
    for (const torch::jit::Use& use : uses) {
      if (use.user != &first) use.user->replaceInput(use.offset, &restored);
    }
    std::replace(model_.outputs.begin(), model_.outputs.end(), &base, &restored);
  }

  NormalisedModel& model_;
  TypeMap& types_;
  MemoryLayouts layouts_;
  std::optional<ContiguousInAnySize> contiguous_;  // made at the first question
  bool changes_tensors_;
  std::optional<SharedMemory> memory_;  // made at the first question
  Node* reader_ = nullptr;
  const Node* assumes_order_ = nullptr;  // the first reader of an order that depends on inputs
  NodesKeptForOrder kept_;
  std::unordered_set<const Value*> needed_;
  std::unordered_map<const Value*, std::vector<torch::jit::Use>> uses_;  // uses for which the value's order matters
  std::vector<Reordered> reordered_;
};

}  // namespace

NodesKeptForOrder keep_memory_order(NormalisedModel& model, InferredTypes& inferred, Diagnostics& diagnostics) {
  return OrderReads(model, inferred).run(diagnostics);
}

std::vector<Refusal> memory_order_refusals(const NormalisedModel& model, const InferredTypes& inferred) {
  std::vector<Refusal> refusals;
  MemoryLayouts layouts(inferred.types);
  for_each_node(*model.graph, [&](const Node& node) {
    if (!scatters_by_order(node) || has_plain_copy(layouts, *node.input(0))) return;
    refusals.push_back({source_of(node), node.kind().toQualString(), "a tensor in another order than PyTorch's own",
                        "a contiguous one", "call contiguous() before it"});
  });
  return refusals;
}

}  // namespace nnapi_convert
