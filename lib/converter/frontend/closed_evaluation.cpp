// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/closed_evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>

#include <algorithm>
#include <functional>
#include <map>

#include "lib/converter/frontend/changes_of_new_tensors.h"
#include "lib/converter/graph/guarded_call.h"
#include "lib/converter/graph/memory_reads.h"
#include "lib/converter/graph/random_numbers.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// True for containers that are not evaluated: tuples and dicts, which forward may return and rules read in place, and
// empty lists of tensors, to which a loop may append.
bool is_container(const Node& node) {
  const bool begins_empty = node.kind() == c10::prim::ListConstruct && node.inputs().empty() &&
                            node.output()->type()->isSubtypeOf(*c10::ListType::ofTensors());
  return begins_empty || node.kind() == c10::prim::TupleConstruct || node.kind() == c10::prim::DictConstruct;
}

bool has_constant_inputs(const Node& node) {
  const auto inputs = node.inputs();
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const Value* input) { return torch::jit::toIValue(input).has_value(); });
}

// True for an operator that reads no values. Not for aten::fill and aten::zero: rules make a TILE of large ones, and a
// constant would make the file as large.
bool reads_no_values(const Node& node) {
  return find_traits(node).has(Fact::kReadsShapeOnly);
}

std::optional<torch::jit::Stack> run_on_constants(const Node& node) {
  torch::jit::Stack arguments;
  for (const Value* input : node.inputs()) arguments.push_back(*torch::jit::toIValue(input));
  if (!may_be_called(node, arguments)) return std::nullopt;
  auto results = torch::jit::runNodeIfInputsAreConstant(&node, true);
  return results && has_few_elements(*results) ? std::optional(std::move(*results)) : std::nullopt;
}

// Sets the results of empty() and its like to 0: what they leave in memory differs from run to run and can't be a
// constant of the model.
void clear(const torch::jit::Stack& results) {
  for (const c10::IValue& result : results) {
    if (result.isTensor() && result.toTensor().defined() && !result.toTensor().is_quantized())
      result.toTensor().zero_();
  }
}

// Runs aten::format, as LibTorch's constant folding skips operators with a variable number of arguments.
torch::jit::Stack run_format(const Node& node) {
  torch::jit::Stack stack;
  for (const Value* input : node.inputs()) stack.push_back(*torch::jit::toIValue(input));
  stack.emplace_back(static_cast<int64_t>(node.inputs().size()));
  node.getOperation()(stack);
  return stack;
}

}  // namespace

bool may_run_early(const Node& node) {
  return node.blocks().empty() && !is_container(node) && !node.outputs().empty() &&
         node.kind() != c10::prim::Constant && node.kind() != c10::prim::GetAttr &&
         node.kind() != c10::prim::Uninitialized &&
         node.kind() != c10::prim::CreateObject &&  // its attributes are set later
         !draws_random_numbers(node);
}

std::optional<torch::jit::Stack> run_on_shape(const Node& node, const TypeMap& types) {
  if (!reads_no_values(node)) return std::nullopt;
  const TensorType* type = tensor_type_of(node.input(0), types);
  const bool is_type_alone = find_traits(node).sizes == ResultSizes::kGivenWithExample;  // new_ones() reads the dtype
  if (type == nullptr || type->is_quantized() || !(all_fixed(type->dims) || is_type_alone)) return std::nullopt;
  // zeros_like() and its like give a tensor in the order of their argument, which isn't known here.
  if (reads_memory_order(*node.owningGraph())) return std::nullopt;
  torch::jit::Stack stack{at::empty({}, at::TensorOptions(type->dtype))
                              .expand(is_type_alone ? std::vector<int64_t>() : fixed_values(type->dims))};
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    const auto constant = torch::jit::toIValue(node.input(i));
    if (!constant) return std::nullopt;
    stack.push_back(*constant);
  }
  try {
    call_operator(node, stack);
  } catch (const std::exception&) {
    return std::nullopt;  // the operator's rule says what is wrong with its arguments
  }
  return stack;
}

bool changes_argument(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && schema->is_mutable();
}

bool is_closed(const Node& node) {
  return (has_constant_inputs(node) ? may_run_early(node) : reads_no_values(node)) && !changes_argument(node);
}

std::vector<Value*> evaluate(Node& node, const TypeMap& types) {
  const c10::NoGradGuard no_grad;  // weights may require gradients, and constants must not
  std::optional<torch::jit::Stack> results;
  if (!has_constant_inputs(node)) {
    results = run_on_shape(node, types);
  } else {
    results = node.kind() == c10::aten::format ? run_format(node) : run_on_constants(node);
  }
  if (!results || results->size() != node.outputs().size()) return {};
  if (find_traits(node).has(Fact::kUnwritten)) clear(*results);
  torch::jit::WithInsertPoint here(&node);
  std::vector<Value*> outputs;
  for (const c10::IValue& result : *results) {
    const auto constant = torch::jit::tryInsertConstant(*node.owningGraph(), result);
    if (!constant) return {};
    outputs.push_back(*constant);
  }
  return outputs;
}

namespace {

bool is_tensor(const Value& value) {
  return value.type()->kind() == c10::TypeKind::TensorType;
}

// True for a value whose type has no None.
bool is_never_none(const Value& value) {
  static const std::set<c10::TypeKind> kinds = {
      c10::TypeKind::TensorType, c10::TypeKind::TupleType, c10::TypeKind::ListType, c10::TypeKind::DictType,
      c10::TypeKind::IntType,    c10::TypeKind::FloatType, c10::TypeKind::BoolType, c10::TypeKind::StringType};
  return kinds.count(value.type()->kind()) != 0;
}

// True if two types are known to differ, in dtype or in a size.
bool differ(const TensorType& one, const TensorType& other) {
  if (one.dtype != other.dtype || one.rank() != other.rank()) return true;
  for (size_t i = 0; i < one.rank(); ++i) {
    const auto size = one.dims[i].fixed_value(), other_size = other.dims[i].fixed_value();
    if (size && other_size && *size != *other_size) return true;
  }
  return false;
}

// Answers `one is other`: true for one value; false if one tensor was created after the other existed, or if one is a
// weight and the other an argument; unknown for two arguments and for views.
c10::optional<bool> identity_of(const Value& one, const Value& other, const TypeMap& types) {
  if (&one == &other) return true;
  const bool is_none = one.mustBeNone() || other.mustBeNone();
  if (is_none && (is_never_none(one) || is_never_none(other))) return false;
  if (!is_tensor(one) || !is_tensor(other)) return c10::nullopt;
  const TensorType *type = tensor_type_of(&one, types), *other_type = tensor_type_of(&other, types);
  if (type != nullptr && other_type != nullptr && differ(*type, *other_type)) return false;
  const auto is_known = [](const Value& value) {
    const auto kind = value.node()->kind();
    const bool is_argument = kind == c10::prim::Param && value.node()->owningBlock()->owningNode() == nullptr;
    return is_argument || kind == c10::prim::Constant || makes_new_tensor(*value.node());
  };
  const bool differs =
      is_known(one) && is_known(other) && (makes_new_tensor(*one.node()) || one.node()->kind() != other.node()->kind());
  return differs ? c10::make_optional(false) : c10::nullopt;
}

}  // namespace

c10::optional<c10::IValue> property_of(const Node& node, const TypeMap& types) {
  const std::string kind = node.kind().toQualString();
  if (kind == "aten::__is__" || kind == "aten::__isnot__") {
    const auto identity = identity_of(*node.input(0), *node.input(1), types);
    return identity ? c10::make_optional(c10::IValue(*identity == (kind == "aten::__is__"))) : c10::nullopt;
  }
  using Property = std::function<c10::IValue(const TensorType&)>;
  static const std::map<std::string, Property> properties = {
      {"prim::dtype", [](const TensorType& type) { return c10::IValue(static_cast<int64_t>(type.dtype)); }},
      {"prim::device", [](const TensorType&) { return c10::IValue(c10::Device(c10::kCPU)); }},
      {"prim::layout", [](const TensorType&) { return c10::IValue(static_cast<int64_t>(c10::kStrided)); }},
      {"prim::requires_grad", [](const TensorType&) { return c10::IValue(false); }},
      {"prim::is_nested", [](const TensorType&) { return c10::IValue(false); }},
      {"prim::is_cuda", [](const TensorType&) { return c10::IValue(false); }},
      {"prim::is_quantized", [](const TensorType& type) { return c10::IValue(type.is_quantized()); }},
      {"aten::dim", [](const TensorType& type) { return c10::IValue(static_cast<int64_t>(type.rank())); }},
      {"aten::is_floating_point", [](const TensorType& type) { return c10::IValue(c10::isFloatingType(type.dtype)); }},
      {"aten::element_size",
       [](const TensorType& type) { return c10::IValue(static_cast<int64_t>(c10::elementSize(type.dtype))); }},
      {"aten::is_complex", [](const TensorType& type) { return c10::IValue(c10::isComplexType(type.dtype)); }},
  };
  const auto property = properties.find(kind);
  if (property == properties.end() || node.inputs().size() != 1) return c10::nullopt;
  const TensorType* type = tensor_type_of(node.input(0), types);
  if (type == nullptr) return c10::nullopt;
  return property->second(*type);
}

}  // namespace nnapi_convert
