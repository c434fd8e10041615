// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/functional_form.h"

#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "lib/ops/node_place.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True for comparisons, which give bools, and for sums and products along an axis, which are int64 for integers.
bool has_own_dtype(const std::string& name) {
  static const std::unordered_set<std::string> names = {
      "cumprod",    "cumsum",      "eq",   "ge",         "greater",     "greater_equal",
      "gt",         "le",          "less", "less_equal", "logical_and", "logical_not",
      "logical_or", "logical_xor", "lt",   "ne",         "not_equal"};
  return names.count(name) != 0;
}

// True for arithmetic whose result has a dtype that can hold all operands.
bool promotes(const std::string& name) {
  static const std::unordered_set<std::string> names = {"add",
                                                        "addcdiv",
                                                        "addcmul",
                                                        "arctan2",
                                                        "atan2",
                                                        "bitwise_and",
                                                        "bitwise_left_shift",
                                                        "bitwise_or",
                                                        "bitwise_right_shift",
                                                        "bitwise_xor",
                                                        "clamp",
                                                        "clamp_max",
                                                        "clamp_min",
                                                        "clip",
                                                        "copysign",
                                                        "div",
                                                        "divide",
                                                        "float_power",
                                                        "floor_divide",
                                                        "fmod",
                                                        "gcd",
                                                        "heaviside",
                                                        "hypot",
                                                        "lcm",
                                                        "ldexp",
                                                        "mul",
                                                        "multiply",
                                                        "nextafter",
                                                        "pow",
                                                        "remainder",
                                                        "sub",
                                                        "subtract",
                                                        "true_divide",
                                                        "xlogy"};
  return names.count(name) != 0;
}

bool reads_other_tensor(const Node& node) {
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin() + 1, inputs.end(),
                     [](const Value* input) { return input->type()->kind() == c10::TypeKind::TensorType; });
}

// True if the functional operator may give another dtype than that of the tensor which the node changes. Numbers
// promote no tensor: PyTorch refuses to write the result in place.
bool may_change_dtype(const Node& change, c10::Symbol functional) {
  if (!functional.is_aten()) return false;
  const std::string name = functional.toUnqualString();
  return has_own_dtype(name) || (promotes(name) && reads_other_tensor(change));
}

}  // namespace

c10::optional<c10::Symbol> functional_kind(const torch::jit::Node& node) {
  return changes_shape(node) ? c10::nullopt : kind_without_underscore(node);
}

bool changes_shape(const torch::jit::Node& node) {
  return find_traits(node).has(Fact::kChangesShape);
}

c10::optional<c10::Symbol> kind_without_underscore(const torch::jit::Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || !schema->is_mutable()) return c10::nullopt;
  std::string name = node.kind().toQualString();
  if (name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_') return c10::nullopt;
  name.pop_back();
  const c10::Symbol kind = c10::Symbol::fromQualString(name);
  for (const auto& candidate : torch::jit::getAllOperatorsFor(kind)) {
    const auto& arguments = candidate->schema().arguments();
    const bool same = std::equal(arguments.begin(), arguments.end(), schema->arguments().begin(),
                                 schema->arguments().end(), [](const c10::Argument& a, const c10::Argument& b) {
                                   return *a.type() == *b.type();  // dropout names its tensor input, dropout_ self
                                 });
    if (same) return kind;
  }
  return c10::nullopt;
}

Value* insert_functional_form(Node* change) {
  torch::jit::Graph& graph = *change->owningGraph();
  const auto insert = [&](c10::Symbol kind, at::ArrayRef<Value*> inputs, const c10::TypePtr& type) {
    Node* made = graph.create(kind, inputs, 1);
    made->insertBefore(change);
    take_place(*made, *change);
    made->setScope(change->scope());
    made->output()->setType(type);
    return made->output();
  };
  const c10::Symbol kind = *functional_kind(*change);
  const c10::TypePtr type = change->output()->type();
  if (!may_change_dtype(*change, kind)) return insert(kind, change->inputs(), type);
  Value* result = insert(kind, change->inputs(), c10::TensorType::get());
  return insert(c10::aten::type_as, {result, change->input(0)}, type);
}

void make_functional(Node* change) {
  Value* result = insert_functional_form(change);
  change->input(0)->replaceAllUsesAfterNodeWith(change, result);
  change->output()->replaceAllUsesWith(result);
  change->destroy();
}

}  // namespace nnapi_convert
