// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/nested_tensors.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "lib/converter/graph/node_reads.h"
#include "lib/ops/op_context.h"
#include "lib/ops/plain_calls.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kMaker = "aten::_nested_tensor_from_mask";

bool is_of(const Node& node, const std::set<std::string>& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

// A nested tensor in the form of a padded one, [rows, length, features], and of the mask of its elements, [rows,
// length].
struct Nested {
  Value* padded;
  Value* mask;
  Value* is_checked;  // the maker raises an error for a mask that doesn't begin each row with all its true elements
};

Nested parts_of(const Value& nested) {
  const Node& maker = *nested.node();
  return {const_cast<Value*>(maker.input(0)), const_cast<Value*>(maker.input(1)), const_cast<Value*>(maker.input(2))};
}

class Padding : public PlainCalls {
 public:
  explicit Padding(Node& node) : PlainCalls(&node), node_(node) {}

  Value* nested(const Nested& like, Value* padded) {
    return insert("_nested_tensor_from_mask", {padded, like.mask, like.is_checked});
  }

  // Returns a copy of the node that reads `padded` in the place of the nested tensors.
  Node* on_padded() {
    Node* copy =
        graph().createClone(&node_, [](Value* value) { return is_nested(*value) ? parts_of(*value).padded : value; });
    for (Value* output : copy->outputs()) output->setType(c10::TensorType::get());
    return graph().insertNode(copy);
  }

  // Returns which elements are padding, to be broadcast. Where a mask that isn't checked has false elements before true
  // ones in a row, the model takes another way: then no element is padding.
  Value* hidden(const Nested& nested) {
    Value* has = insert("unsqueeze", {nested.mask, 2});
    const auto is_checked = torch::jit::toIValue(nested.is_checked);
    if (!is_checked || !is_checked->toBool()) has = insert("logical_or", {has, has_gaps(nested.mask)});
    return insert("logical_not", {has});
  }

 private:
  // Returns whether a true element of any row comes behind a false one.
  Value* has_gaps(Value* mask) {
    Value* numbers = insert("to", {mask, static_cast<int64_t>(at::kFloat)});
    Value* first = insert("slice", {numbers, 1, 0, 1});
    Value* before = insert("slice", {insert("cat", {list({first, numbers}), 1}), 1, 0, -1});
    Value* steps = insert("sub", {numbers, before});
    return insert("gt", {insert("amax", {steps, c10::IValue(std::vector<int64_t>{0, 1})}), 0});
  }

  Node& node_;
};

bool is_none_or_absent(Node& node, const char* name) {
  const auto value = torch::jit::toIValue(argument(&node, name));
  return value && value->isNone();
}

// Returns the form on padded tensors of a layer's own operator, which takes the mask of the keys to hide.
std::vector<Value*> attention_form(Node& node, const Value& nested) {
  if (!is_none_or_absent(node, "mask")) return {};
  const Nested parts = parts_of(nested);
  Padding padding(node);
  Value* hidden = padding.insert("logical_not", {parts.mask});
  Node* copy = padding.on_padded();
  const torch::jit::WithInsertPoint before(copy);
  copy->replaceInput(static_cast<size_t>(*node.schema().argumentIndexWithName("mask")), hidden);
  copy->replaceInput(static_cast<size_t>(*node.schema().argumentIndexWithName("mask_type")), padding.constant(1));
  std::vector<Value*> results(copy->outputs().begin(), copy->outputs().end());
  results[0] = Padding(node).nested(parts, results[0]);
  return results;
}

// True for a number, and for a constant that is the same for each element.
bool is_alike_for_all(const Value& value) {
  if (!value.type()->isSubtypeOf(*c10::TensorType::get())) return true;
  const auto constant = torch::jit::toIValue(&value);
  return constant && (constant->isNone() || constant->toTensor().dim() <= 1);
}

// True for operators that compute each row of features by itself.
bool is_row_wise(Node& node) {
  static const std::set<std::string> kinds = {"aten::linear", "aten::dropout", "aten::clone", "aten::contiguous",
                                              "aten::detach"};
  if (is_of(node, {"aten::layer_norm"})) {
    const auto shape = torch::jit::toIValue(argument(&node, "normalized_shape"));
    return shape && shape->toIntVector().size() == 1;
  }
  return is_of(node, kinds) || find_traits(node).rows == Rows::kElementwise;
}

std::vector<Value*> row_wise_form(Node& node, const Value& nested) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || schema->is_mutable() || node.outputs().size() != 1 || !is_row_wise(node)) return {};
  const Nested parts = parts_of(nested);
  const bool is_weighted = is_of(node, {"aten::linear", "aten::layer_norm"});
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value& input = *node.input(i);
    const bool is_of_same_mask = is_nested(input) && parts_of(input).mask == parts.mask;
    const bool is_weight = is_weighted && i > 0 && torch::jit::toIValue(&input);
    if (!is_of_same_mask && !is_weight && !is_alike_for_all(input)) return {};
  }
  Padding padding(node);
  Value* padded = padding.on_padded()->output();
  return {padding.nested(parts, padded)};
}

std::vector<Value*> property_form(Node& node) {
  Padding padding(node);
  if (is_of(node, {"prim::is_nested"})) return {padding.constant(true)};
  Node* copy = padding.on_padded();
  copy->output()->copyMetadata(node.output());
  return {copy->output()};
}

std::vector<Value*> padded_result(Node& node, const Value& nested) {
  if (!is_none_or_absent(node, "output_size")) return {};
  const Nested parts = parts_of(nested);
  Padding padding(node);
  Value* hidden = padding.hidden(parts);
  return {padding.insert("masked_fill", {parts.padded, hidden, argument(&node, "padding")})};
}

// True if the graph makes a nested tensor without a check of its mask.
bool makes_unchecked(Graph& graph) {
  bool makes = false;
  for_each_node(graph, [&](const Node& node) {
    if (!is_of(node, {kMaker})) return;
    const auto is_checked = torch::jit::toIValue(node.input(2));
    makes = makes || (is_checked && !is_checked->toBool());
  });
  return makes;
}

}  // namespace

bool is_nested(const Value& value) {
  return is_of(*value.node(), {kMaker});
}

namespace {

std::vector<Value*> padded_form(Node& node) {
  static const std::set<std::string> properties = {
      "prim::is_nested", "prim::dtype", "prim::device",        "prim::layout",
      "prim::is_cuda",   "aten::dim",   "prim::requires_grad", "aten::is_floating_point"};
  if (is_of(node, {"aten::_nested_tensor_from_mask_left_aligned"}) && makes_unchecked(*node.owningGraph())) {
    return {Padding(node).constant(true)};  // hidden() makes the difference
  }
  const auto inputs = node.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(), [](const Value* input) { return is_nested(*input); });
  if (found == inputs.end()) return {};
  if (is_of(node, properties)) return property_form(node);
  if (is_of(node, {"aten::to_padded_tensor", "aten::nested_to_padded_tensor"})) return padded_result(node, **found);
  const bool is_attention = is_of(node, {"aten::_transformer_encoder_layer_fwd", "aten::_native_multi_head_attention"});
  return is_attention ? attention_form(node, **found) : row_wise_form(node, **found);
}

// True if all readers take elements of rows by a number from the front: these are the same in a longer tensor.
bool reads_from_front(const Value& padded) {
  return std::all_of(padded.uses().begin(), padded.uses().end(), [](const torch::jit::Use& use) {
    if (use.offset != 0) return false;
    const auto dim =
        is_of(*use.user, {"aten::slice", "aten::select"}) ? torch::jit::toIValue(use.user->input(1)) : c10::nullopt;
    if (!dim) return false;
    if (is_of(*use.user, {"aten::slice"})) return dim->toInt() == 0 && reads_from_front(*use.user->output());
    const auto index = torch::jit::toIValue(use.user->input(2));
    return dim->toInt() == 1 && index && index->toInt() >= 0;
  });
}

// Returns the warning of a padded result that is longer than the original's; nothing for a node that makes no padded
// tensor, or whose readers all read what is the same.
std::optional<Warning> warning_of_length(const Node& node) {
  if (!is_of(node, {"aten::to_padded_tensor", "aten::nested_to_padded_tensor"})) return std::nullopt;
  if (reads_from_front(*node.output())) return std::nullopt;
  const std::string op = node.kind().toQualString();
  return Warning{op + " cuts its result to the longest row; the converted model gives it in the mask's length, with "
                      "padding behind the longest row",
                 source_of(node), op, "", 0};
}

}  // namespace

std::vector<Value*> padded_form(Node& node, NormalisedModel& model) {
  const std::optional<Warning> warning = warning_of_length(node);
  std::vector<Value*> values = padded_form(node);
  if (warning && !values.empty()) model.warnings.push_back(*warning);
  return values;
}

void pad_nested_tensors(NormalisedModel& model) {
  std::vector<Node*> nodes;
  bool makes_nested = false;
  for_each_node(*model.graph, [&](Node& node) {
    nodes.push_back(&node);
    makes_nested = makes_nested || is_of(node, {kMaker});
  });
  if (!makes_nested) return;
  for (Node* node : nodes) {
    const std::vector<Value*> values = padded_form(*node, model);
    for (size_t i = 0; i < values.size(); ++i) node->output(i)->replaceAllUsesWith(values[i]);
    if (!values.empty()) node->destroy();
  }
}

}  // namespace nnapi_convert
