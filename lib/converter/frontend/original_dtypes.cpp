// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/original_dtypes.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_one_of(const Node& node, const std::unordered_set<std::string>& names) {
  return node.kind().is_aten() && names.count(node.kind().toUnqualString()) != 0;
}

bool is_changed_in_place(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Returns the tensor whose dtype the node's result has: x of x.add_(y), and y of x.type_as(y), x.to(y) and
// x.to(y.dtype).
const Value* dtype_example(const Node& node) {
  static const std::unordered_set<std::string> keep_first = {
      "constant_pad_nd", "copy", "full_like", "index_fill",     "index_put",    "masked_fill",
      "masked_scatter",  "pad",  "scatter",   "select_scatter", "slice_scatter"};
  if (is_one_of(node, keep_first) && !node.inputs().empty()) return node.input(0);
  if (node.kind() == c10::Symbol::fromQualString("aten::type_as")) return node.input(1);
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  if (!node.inputs().empty() && has_tensors(*node.input(0)) && is_changed_in_place(schema->arguments()[0])) {
    return node.input(0);
  }
  const bool is_cast = node.kind() == c10::Symbol::fromQualString("aten::to");
  const auto other = is_cast ? schema->argumentIndexWithName("other") : c10::nullopt;
  if (other) return node.input(static_cast<size_t>(*other));
  const auto dtype = schema->argumentIndexWithName("dtype");
  if (!dtype) return nullptr;
  const Node& maker = *node.input(static_cast<size_t>(*dtype))->node();
  return maker.kind() == c10::prim::dtype ? maker.input(0) : nullptr;
}

// Returns the dtype that an autocast of a CPU's tensor gives; nothing if it gives the tensor itself. Its arguments:
// the tensor, is_enabled for CUDA, is_enabled for the CPU, and to reduced precision also the dtypes of both.
std::optional<at::ScalarType> autocast_dtype(const Node& node) {
  if (!is_autocast(node)) return std::nullopt;
  const auto is_enabled = torch::jit::toIValue(node.input(2));
  if (!is_enabled || !is_enabled->isBool() || !is_enabled->toBool()) return std::nullopt;
  if (node.inputs().size() < 5) return at::kFloat;
  const auto dtype = torch::jit::toIValue(node.input(4));
  return dtype && dtype->isInt() ? std::optional(static_cast<at::ScalarType>(dtype->toInt())) : std::nullopt;
}

bool keeps_first_dtype(const Node& node) {
  switch (find_traits(node).rows) {
    case Rows::kUnstated:
    case Rows::kUnproved:
    case Rows::kElementwise:
    case Rows::kMatrices:
    case Rows::kAddedMatrices:
    case Rows::kJoined:
      return false;
    default:
      return true;
  }
}

// True for bools, indices and counts, whatever the dtype of what they are made of.
bool is_never_floating(const Value& value) {
  static const std::unordered_set<std::string> none = {
      "all",         "any",   "argmax", "argmin",  "argsort",       "bincount",    "bucketize",    "count_nonzero",
      "eq",          "equal", "ge",     "greater", "greater_equal", "gt",          "isclose",      "isfinite",
      "isinf",       "isnan", "le",     "less",    "less_equal",    "logical_and", "logical_not",  "logical_or",
      "logical_xor", "lt",    "ne",     "nonzero", "not_equal",     "one_hot",     "searchsorted", "signbit"};
  static const std::unordered_set<std::string> but_the_first = {"_unique2",
                                                                "adaptive_max_pool1d",
                                                                "adaptive_max_pool2d",
                                                                "adaptive_max_pool3d",
                                                                "cummax",
                                                                "cummin",
                                                                "kthvalue",
                                                                "max",
                                                                "max_pool1d_with_indices",
                                                                "max_pool2d_with_indices",
                                                                "max_pool3d_with_indices",
                                                                "median",
                                                                "min",
                                                                "mode",
                                                                "nanmedian",
                                                                "sort",
                                                                "topk",
                                                                "unique_consecutive",
                                                                "unique_dim"};
  return is_one_of(*value.node(), none) || (value.offset() > 0 && is_one_of(*value.node(), but_the_first));
}

// True for an operator that gives floats of the default dtype where it is given integers.
bool makes_floats(const Node& node) {
  static const std::unordered_set<std::string> names = {
      "acos",  "asin", "atan",       "atan2", "cos",     "cosh", "erf",  "exp",  "exp2", "expm1", "log",        "log10",
      "log1p", "log2", "reciprocal", "rsqrt", "sigmoid", "sin",  "sinh", "sqrt", "tan",  "tanh",  "true_divide"};
  static const std::unordered_set<std::string> divisions = {"div", "divide"};
  const auto inputs = node.inputs();
  const bool is_true_division = is_one_of(node, divisions) && inputs.size() == 2;
  return is_true_division || is_one_of(node, names) ||
         std::any_of(inputs.begin(), inputs.end(),
                     [](const Value* input) { return input->type()->kind() == c10::TypeKind::FloatType; });
}

// True for a constant that was a number in Python, in traced code (traced_numbers.h).
bool is_traced_number(const Value& value) {
  const auto constant = torch::jit::toIValue(&value);
  return constant && constant->isTensor() && constant->toTensor().defined() &&
         constant->toTensor().unsafeGetTensorImpl()->is_wrapped_number();
}

bool makes_rank_0(const Node& node) {
  return (node.kind() == c10::aten::tensor && node.input(0)->type()->containedTypes().empty()) ||
         node.kind() == c10::aten::scalar_tensor;
}

// True for an operator that makes a tensor of floats, and is told neither a dtype nor an example: zeros(2),
// arange(0.5), tensor([1.5]).
bool has_default_dtype(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || !schema->argumentIndexWithName("dtype") || node.outputs().size() != 1) return false;
  const bool tells_by_numbers = makes_rank_0(node) || node.kind() == c10::aten::tensor ||
                                node.kind() == c10::aten::arange || node.kind() == c10::aten::full;
  if (!tells_by_numbers) return true;
  const auto is_float = [](const Value* input) {
    c10::TypePtr type = input->type();
    while (type->kind() == c10::TypeKind::ListType) type = type->containedType(0);
    return type->kind() == c10::TypeKind::FloatType;
  };
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), is_float);
}

}  // namespace

std::optional<at::ScalarType> asked_dtype(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("dtype");
  if (!index) return std::nullopt;
  const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
  return value && value->isInt() ? std::optional(static_cast<at::ScalarType>(value->toInt())) : std::nullopt;
}

std::optional<at::ScalarType> float_dtype_in(const c10::IValue& value) {
  std::optional<at::ScalarType> width;
  const std::vector<at::Tensor> tensors = value.isTensorList() ? value.toTensorVector()
                                          : value.isTensor()   ? std::vector<at::Tensor>{value.toTensor()}
                                                               : std::vector<at::Tensor>();
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || !tensor.is_floating_point()) continue;
    width = width ? c10::promoteTypes(*width, tensor.scalar_type()) : tensor.scalar_type();
  }
  return width;
}

bool is_autocast(const Node& node) {
  static const auto kToReduced = c10::Symbol::fromQualString("aten::_autocast_to_reduced_precision");
  static const auto kToFull = c10::Symbol::fromQualString("aten::_autocast_to_full_precision");
  return node.kind() == kToReduced || node.kind() == kToFull;
}

at::ScalarType SourceDtypes::of_argument(size_t number) const {
  const auto found = arguments.find(number);
  return found == arguments.end() ? others : found->second.dtype.value_or(others);
}

at::ScalarType SourceDtypes::of_attribute(const Node& access) const {
  const auto found = attributes.find(attribute_path(access));
  return found == attributes.end() ? others : found->second;
}

// Finds the dtypes of all values again until none changes: values that loops carry depend on each other.
OriginalDtypes::OriginalDtypes(Graph& graph, SourceDtypes sources) : containers_(graph), sources_(std::move(sources)) {
  std::vector<const Value*> values;
  const auto add = [&](const auto& made) {
    std::copy_if(made.begin(), made.end(), std::back_inserter(values),
                 [](const Value* each) { return has_tensors(*each); });
  };
  add(graph.inputs());
  for_each_node(graph, [&](const Node& node) {
    for (const Block* block : node.blocks()) add(block->inputs());
    add(node.outputs());
  });
  constexpr int kMostRounds = 16;
  for (int round = 0; round < kMostRounds && settle(values); ++round) {
  }
}

// Finds the dtypes of the values once. Returns true if a dtype has changed.
bool OriginalDtypes::settle(const std::vector<const Value*>& values) {
  bool changed = false;
  for (const Value* value : values) {
    const Width width = found(*value);
    if (!width || known(value) == width) continue;
    changed = true;
    known_[value] = *width;
  }
  return changed;
}

OriginalDtypes::Width OriginalDtypes::known(const Value* value) const {
  const auto found = known_.find(value);
  return found == known_.end() ? std::nullopt : Width(found->second);
}

std::optional<at::ScalarType> OriginalDtypes::of(const Value* value) const {
  const Width width = known(value);
  return width == kNotFloating ? std::nullopt : width;
}

std::map<std::string, std::set<at::ScalarType>> OriginalDtypes::all_in(const Value* container) {
  std::map<std::string, std::set<at::ScalarType>> dtypes;
  for (const Content& content : containers_.contents(container)) {
    if (const auto width = of(content.value)) dtypes[content.key.value_or("")].insert(*width);
  }
  return dtypes;
}

std::vector<const Value*> OriginalDtypes::values_in(const Value& container) {
  std::vector<const Value*> values;
  for (const Content& content : containers_.contents(&container)) values.push_back(content.value);
  return values;
}

OriginalDtypes::Width OriginalDtypes::found(const Value& value) {
  const Node& node = *value.node();
  if (const auto constant = torch::jit::toIValue(&value)) return float_dtype_in(*constant).value_or(kNotFloating);
  if (&node == value.owningGraph()->param_node()) return sources_.of_argument(value.offset());
  if (node.kind() == c10::prim::GetAttr) return sources_.of_attribute(node);
  if (is_never_floating(value)) return kNotFloating;
  if (is_container_of_tensors(value)) return widest(values_in(value));
  if (const auto cast = autocast_dtype(node)) return *cast;
  if (const auto asked = asked_dtype(node)) return c10::isFloatingType(*asked) ? *asked : kNotFloating;
  if (const Value* example = dtype_example(node)) return known(example);
  const std::vector<const Value*> sources = flowing_into(value);
  if (!sources.empty()) return widest(sources);
  const bool takes = node.kind() == c10::aten::__getitem__ && is_container_of_tensors(*node.input(0));
  return takes ? widest(containers_.taken_by(node)) : of_operands(node);
}

OriginalDtypes::Width OriginalDtypes::wider(Width one, Width other) {
  if (!one || one == kNotFloating) return other ? other : one;
  if (!other || other == kNotFloating) return one;
  return c10::promoteTypes(*one, *other);
}

OriginalDtypes::Width OriginalDtypes::widest(const std::vector<const Value*>& values) const {
  Width width;
  bool is_decided = true;
  for (const Value* value : values) {
    is_decided = is_decided && known(value);
    width = wider(width, known(value));
  }
  return width == kNotFloating && !is_decided ? std::nullopt : width;
}

// Finds the dtype of a result by the operands. A layer's result has the dtype of its first operand, also where
// torch.autocast gives it weights of another dtype. PyTorch's type promotion uses floating-point tensors of rank 0 only
// if no operand of a higher rank is one.
OriginalDtypes::Width OriginalDtypes::of_operands(const Node& node) {
  if (keeps_first_dtype(node) && !node.inputs().empty() && known(node.input(0)) != kNotFloating) {
    return known(node.input(0));
  }
  Width width, of_numbers;
  bool has_operands = false, is_decided = true, has_python_float = false;
  for (const Value* input : node.inputs()) {
    if (!has_tensors(*input)) continue;
    has_operands = true;
    if (is_traced_number(*input)) {
      has_python_float = has_python_float || known(input) != kNotFloating;
      continue;
    }
    const bool number = is_number(input);
    is_decided = is_decided && (number || known(input));
    Width& wanted = number ? of_numbers : width;
    wanted = wider(wanted, known(input));
  }
  if (!has_operands) return has_default_dtype(node) ? at::kFloat : kNotFloating;
  if (width && width != kNotFloating) return width;
  if (!is_decided) return std::nullopt;
  if (of_numbers && of_numbers != kNotFloating) return of_numbers;
  return has_python_float || makes_floats(node) ? at::kFloat : kNotFloating;
}

bool OriginalDtypes::is_number(const Value* value) {
  const auto [known, is_new] = numbers_.emplace(value, false);
  if (!is_new) return known->second;
  const bool number = found_number(*value);
  numbers_[value] = number;
  return number;
}

// True for a tensor that is shown to have rank 0, and for a container of such tensors.
bool OriginalDtypes::found_number(const Value& value) {
  const Node& node = *value.node();
  if (const auto constant = torch::jit::toIValue(&value)) {
    return constant->isTensor() && constant->toTensor().defined() && constant->toTensor().dim() == 0;
  }
  if (&node == value.owningGraph()->param_node()) {
    const auto stated = sources_.arguments.find(value.offset());
    return stated != sources_.arguments.end() && stated->second.has_rank_0;
  }
  std::vector<const Value*> sources = flowing_into(value);
  const OpTraits& traits = find_traits(node);
  if (is_container_of_tensors(value)) {
    sources = values_in(value);
  } else if (makes_rank_0(node)) {
    return true;
  } else if (traits.rows == Rows::kElementwise || traits.has(Fact::kIsOfContainers)) {
    for (const Value* input : node.inputs()) {
      if (has_tensors(*input)) sources.push_back(input);
    }
  }
  return !sources.empty() &&
         std::all_of(sources.begin(), sources.end(), [&](const Value* each) { return is_number(each); });
}

}  // namespace nnapi_convert
