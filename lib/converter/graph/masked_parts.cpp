// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/masked_parts.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_operator(const Node& node, const char* kind) {
  return std::string(node.kind().toQualString()) == kind;
}

// True if both are one value, equal constants, or results of equal nodes on such values.
bool are_same(const Value& one, const Value& other, int depth = 4) {
  if (&one == &other) return true;
  const auto constant = torch::jit::toIValue(&one), other_constant = torch::jit::toIValue(&other);
  if (constant && other_constant && !constant->isTensor()) return *constant == *other_constant;
  const Node &maker = *one.node(), &other_maker = *other.node();
  const bool may_be = depth > 0 && maker.kind() == other_maker.kind() && maker.blocks().empty() &&
                      maker.maybeSchema() != nullptr && !maker.schema().is_mutable() && !maker.hasSideEffects() &&
                      !maker.isNondeterministic() && one.offset() == other.offset() &&
                      maker.inputs().size() == other_maker.inputs().size();
  if (!may_be) return false;
  for (size_t i = 0; i < maker.inputs().size(); ++i) {
    if (!are_same(*maker.input(i), *other_maker.input(i), depth - 1)) return false;
  }
  return true;
}

// Returns the index of the first axes if the list has no other index; null for other lists.
const Value* only_index(const Value& indices) {
  const Node& list = *indices.node();
  if (list.kind() != c10::prim::ListConstruct || list.inputs().empty()) return nullptr;
  for (size_t i = 1; i < list.inputs().size(); ++i) {
    const auto rest = torch::jit::toIValue(list.input(i));
    if (!rest || !rest->isNone()) return nullptr;
  }
  return list.input(0);
}

class MaskedParts {
 public:
  MaskedParts(Node& read, const TypeMap& types) : types_(types), read_(read) {}

  // True if the node reads elements by a mask, and every use of its result leads to a write by the same mask.
  bool find() {
    if (!is_operator(read_, "aten::index")) return false;
    mask_ = only_index(*read_.input(1));
    const TensorType* mask = mask_ == nullptr ? nullptr : tensor_type_of(mask_, types_);
    const TensorType* whole = tensor_type_of(read_.input(0), types_);
    if (mask == nullptr || whole == nullptr || mask->dtype != at::kBool || mask->rank() > whole->rank()) return false;
    whole_ = *whole;
    missing_axes_ = whole->rank() - mask->rank();
    return follow(*read_.output()) && !writes_.empty() && std::all_of(writes_.begin(), writes_.end(), [&](Node* write) {
             return has_same_sizes(*write->input(0)) && can_compute(*write->input(2));
           });
  }

  // Computes the writes' results on all elements. Returns each replaced result with its replacement.
  std::vector<std::pair<Value*, Value*>> replace() {
    std::vector<std::pair<Value*, Value*>> replaced;
    for (Node* write : writes_) replaced.emplace_back(write->output(), joined(*write));
    return replaced;
  }

  // Destroys the nodes that nothing reads any more, except for `read_`.
  void clean_up() {
    for (Node* write : writes_) write->destroy();
    std::sort(between_.begin(), between_.end(), [](Node* a, Node* b) { return b->isBefore(a); });
    for (Node* node : between_) {
      if (!node->hasUses()) node->destroy();
    }
    for (Node* part : other_parts_) {
      if (!part->hasUses()) part->destroy();
    }
  }

 private:
  bool follow(const Value& part) {
    return std::all_of(part.uses().begin(), part.uses().end(), [&](const torch::jit::Use& use) {
      Node& user = *use.user;
      if (user.owningBlock() != read_.owningBlock()) return false;
      if (is_write(user)) {
        if (use.offset != 2) return false;
        if (std::find(writes_.begin(), writes_.end(), &user) == writes_.end()) writes_.push_back(&user);
        return true;
      }
      if (!is_elementwise(user)) return false;
      if (std::find(between_.begin(), between_.end(), &user) != between_.end()) return true;
      between_.push_back(&user);
      return follow(*user.output());
    });
  }

  bool is_write(const Node& node) const {
    if (!is_operator(node, "aten::index_put")) return false;
    const Value* mask = only_index(*node.input(1));
    const auto accumulates = torch::jit::toIValue(node.input(3));
    return mask != nullptr && are_same(*mask, *mask_) && accumulates && !accumulates->toBool();
  }

  static bool is_elementwise(const Node& node) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    return schema != nullptr && !schema->is_mutable() && node.blocks().empty() && node.outputs().size() == 1 &&
           find_traits(node).rows == Rows::kElementwise;
  }

  bool has_same_sizes(const Value& tensor) const {
    const TensorType* type = tensor_type_of(&tensor, types_);
    return type != nullptr && type->dims == whole_.dims && !type->is_quantized();
  }

  // True if the value was read by the same mask from a tensor of the same sizes.
  bool is_part(const Value& value) const {
    const Node& node = *value.node();
    if (!is_operator(node, "aten::index")) return false;
    const Value* mask = only_index(*node.input(1));
    return mask != nullptr && are_same(*mask, *mask_) && has_same_sizes(*node.input(0));
  }

  bool is_computed_here(const Value& value) const {
    return std::find(between_.begin(), between_.end(), value.node()) != between_.end();
  }

  // True for a number or a tensor of one element: it is the same for all elements of the masked tensor.
  bool is_alike_for_all(const Value& value) const {
    if (!value.type()->isSubtypeOf(*c10::TensorType::get())) {
      return value.type()->kind() != c10::TypeKind::ListType || torch::jit::toIValue(&value).has_value();
    }
    if (const auto constant = torch::jit::toIValue(&value)) {
      return constant->isNone() || (constant->toTensor().dim() <= 1 && constant->toTensor().numel() == 1);
    }
    const TensorType* type = tensor_type_of(&value, types_);
    return type != nullptr && type->rank() == 0;
  }

  bool can_compute(const Value& value) const {
    if (is_part(value)) return true;
    if (!is_computed_here(value)) return false;
    const auto inputs = value.node()->inputs();
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](const Value* input) { return is_alike_for_all(*input) || can_compute(*input); });
  }

  // Returns the value as computed on all elements, not only on those that the mask chooses.
  Value* of_all(Value* value) {
    if (is_part(*value)) {
      if (read_.isBefore(value->node())) other_parts_.insert(value->node());
      return value->node()->input(0);
    }
    if (!is_computed_here(*value)) return value;
    const auto known = computed_.find(value);
    if (known != computed_.end()) return known->second;
    Node* node = value->node();
    std::unordered_map<Value*, Value*> inputs;
    for (Value* input : node->inputs()) inputs[input] = of_all(input);
    Graph& graph = *node->owningGraph();
    Node* copy = graph.insertNode(graph.createClone(node, [&](Value* input) { return inputs.at(input); }));
    return computed_[value] = copy->output();
  }

  Value* joined(Node& write) {
    Graph& graph = *write.owningGraph();
    computed_.clear();
    const torch::jit::WithInsertPoint here(&write);
    Node* before = write.prev();
    Value* mask = write.input(1)->node()->input(0);
    for (size_t i = 0; i < missing_axes_; ++i) mask = graph.insert(c10::aten::unsqueeze, {mask, -1});
    Value* chosen = of_all(write.input(2));
    Value* result = graph.insert(c10::aten::where, {mask, chosen, write.input(0)});
    for (Node* made = before->next(); made != &write; made = made->next()) {
      made->setSourceRange(write.sourceRange());
      made->setScope(write.scope());
    }
    return result;
  }

  const TypeMap& types_;
  Node& read_;
  const Value* mask_ = nullptr;
  TensorType whole_;
  size_t missing_axes_ = 0;
  std::vector<Node*> writes_, between_;
  std::set<Node*> other_parts_;  // later reads by the same mask, of other tensors
  std::unordered_map<const Value*, Value*> computed_;
};

}  // namespace

bool join_masked_parts(Node& read, const TypeMap& types, const std::function<void(Value* from, Value* to)>& replace) {
  MaskedParts parts(read, types);
  if (!parts.find()) return false;
  for (const auto& [from, to] : parts.replace()) replace(from, to);
  parts.clean_up();
  return true;
}

}  // namespace nnapi_convert
