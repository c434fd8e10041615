// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/trial_run.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <set>

#include "lib/base/count.h"
#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/graph/guarded_call.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

// True for operators of namespaces whose operators with value-dependent sizes are all listed in this file.
bool is_well_known(const TorchNode& node) {
  static const std::set<std::string> namespaces = {"aten", "quantized", "torchvision"};
  return namespaces.count(node.kind().ns().toUnqualString()) != 0;
}

bool changes_inputs(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema == nullptr || schema->is_mutable();
}

// True if the node can't be tried on made-up tensors: it changes something else than tensors, or the model's constants.
bool changes_what_is_kept(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return true;
  for (size_t i = 0; i < schema->arguments().size(); ++i) {
    const c10::AliasInfo* alias = schema->arguments()[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    const TorchValue* changed = node.input(i);
    if (changed->type()->kind() != c10::TypeKind::TensorType || torch::jit::toIValue(changed)) return true;
  }
  return false;
}

// True if an index of this dtype is a mask.
bool reads_mask(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

std::optional<c10::IValue> made_up(const TorchValue* value, const TypeMap& types);

std::optional<c10::IValue> made_up_list(const TorchNode& list, const TypeMap& types) {
  const auto element = list.output()->type()->expect<c10::ListType>()->getElementType();
  c10::impl::GenericList values(element);
  for (const TorchValue* input : list.inputs()) {
    const auto value = made_up(input, types);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return c10::IValue(values);
}

std::optional<c10::IValue> made_up(const TorchValue* value, const TypeMap& types) {
  if (const auto constant = torch::jit::toIValue(value)) return *constant;
  if (value->node()->kind() == c10::prim::ListConstruct) return made_up_list(*value->node(), types);
  const auto found = types.find(value);
  if (found == types.end()) return std::nullopt;
  if (const auto* type = std::get_if<TensorType>(&found->second)) {
    const auto tensor = made_up_tensor(*type);
    return tensor ? std::optional<c10::IValue>(*tensor) : std::nullopt;
  }
  if (const auto* sizes = std::get_if<Dims>(&found->second)) {
    return all_fixed(*sizes) ? std::optional(sizes_constant(*value, fixed_values(*sizes))) : std::nullopt;
  }
  if (const auto* list = std::get_if<TensorTypes>(&found->second)) {
    c10::List<at::Tensor> tensors;
    for (const TensorType& type : *list) {
      const auto tensor = made_up_tensor(type);
      if (!tensor) return std::nullopt;
      tensors.push_back(*tensor);
    }
    return c10::IValue(tensors);
  }
  return std::nullopt;
}

std::optional<TensorType> type_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_sparse() || tensor.is_nested()) return std::nullopt;
  TensorType type{tensor.scalar_type(), to_dims(tensor.sizes().vec()), {}};
  if (!tensor.is_quantized()) return type;
  if (tensor.qscheme() != at::kPerTensorAffine) return std::nullopt;
  type.quantization = {tensor.q_scale(), tensor.q_zero_point()};
  return type;
}

std::optional<ValueType> type_of(const c10::IValue& value) {
  if (value.isTensor()) {
    const auto type = type_of(value.toTensor());
    return type ? std::optional<ValueType>(*type) : std::nullopt;
  }
  if (!value.isTensorList()) return std::nullopt;
  TensorTypes types;
  for (const at::Tensor& tensor : value.toTensorVector()) {
    const auto type = type_of(tensor);
    if (!type) return std::nullopt;
    types.push_back(*type);
  }
  return ValueType(types);
}

bool indexes_by_mask(const TorchNode& node, const torch::jit::Stack& stack) {
  if (find_traits(node).sizes != ResultSizes::kIndexed || !stack[1].isList()) return false;
  const auto indices = stack[1].toListRef();
  return std::any_of(indices.begin(), indices.end(), [](const c10::IValue& index) {
    return index.isTensor() && index.toTensor().defined() && reads_mask(index.toTensor());
  });
}

c10::IValue made_up_number(const TorchValue& value) {
  if (value.type()->kind() == c10::TypeKind::FloatType) return 0.5;
  if (value.type()->kind() == c10::TypeKind::BoolType) return true;
  return 1;
}

}  // namespace

bool takes_any_number(const TorchNode& node, const TorchValue& input) {
  const c10::TypeKind kind = input.type()->kind();
  const bool is_number =
      kind == c10::TypeKind::FloatType || kind == c10::TypeKind::IntType || kind == c10::TypeKind::BoolType;
  const bool gives_tensor = node.outputs().size() == 1 && node.output()->type()->kind() == c10::TypeKind::TensorType;
  return is_number && gives_tensor && find_traits(node).has(Fact::kTakesAnyNumber);  // not [x] * number
}

bool sizes_depend_on_values(const TorchNode& node) {
  const OpTraits& traits = find_traits(node);
  return traits.has(Fact::kSizesByValues) || (traits.has(Fact::kSizesByOneValue) && node.inputs().size() == 1);
}

std::optional<at::Tensor> made_up_tensor(const TensorType& type) {
  if (!all_fixed(type.dims)) return std::nullopt;
  const std::vector<int64_t> sizes = fixed_values(type.dims);
  constexpr int64_t kMostElements = int64_t{1} << 30;  // as many as float32 tensors of NNAPI have
  if (element_count(type.dims).value_or_most() > kMostElements) return std::nullopt;
  const at::Tensor values = c10::isFloatingType(type.dtype) || type.is_quantized()
                                ? at::full(sizes, 0.5, at::TensorOptions(at::kFloat))
                                : at::zeros(sizes, at::TensorOptions(type.dtype));
  if (!type.is_quantized()) return values.to(type.dtype);
  return at::quantize_per_tensor(values, type.quantization.scale, type.quantization.zero_point, type.dtype);
}

namespace {

std::optional<torch::jit::Stack> made_up_arguments(const TorchNode& node, const TypeMap& types) {
  torch::jit::Stack stack;
  for (const TorchValue* input : node.inputs()) {
    auto value = made_up(input, types);
    if (!value && takes_any_number(node, *input)) value = made_up_number(*input);
    if (!value) return std::nullopt;
    stack.push_back(*value);
  }
  return stack;
}

// Returns the operation's results for made-up tensors.
std::optional<torch::jit::Stack> observed_results(const TorchNode& node, const TypeMap& types, std::string& error) {
  if (!node.blocks().empty() || node.maybeOperator() == nullptr || node.outputs().empty() || !is_well_known(node) ||
      changes_what_is_kept(node) || sizes_depend_on_values(node)) {
    return std::nullopt;
  }
  auto arguments = made_up_arguments(node, types);
  if (!arguments || indexes_by_mask(node, *arguments)) return std::nullopt;
  torch::jit::Stack& stack = *arguments;
  try {
    const c10::NoGradGuard no_grad;
    call_operator(node, stack);
  } catch (const c10::LinAlgError&) {
    return std::nullopt;  // the made-up values may cause the error
  } catch (const c10::IndexError&) {
    return std::nullopt;  // the made-up indices may cause the error
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;  // the library with the operator's code is not loaded
  } catch (const std::exception& raised) {
    error = torch_reason(raised);
    return std::nullopt;
  }
  return stack.size() == node.outputs().size() ? std::optional(stack) : std::nullopt;
}

// True for a computed tensor of numbers or truth values, which may be places, counts or a mask, and for a list of some.
bool may_choose(const TorchValue& value, const TypeMap& types) {
  if (torch::jit::toIValue(&value)) return false;
  if (value.node()->kind() == c10::prim::ListConstruct) {
    const auto elements = value.node()->inputs();
    return std::any_of(elements.begin(), elements.end(),
                       [&](const TorchValue* element) { return may_choose(*element, types); });
  }
  const TensorType* type = tensor_type_of(&value, types);
  return type != nullptr && c10::isIntegralType(type->dtype, /*includeBool=*/true);
}

}  // namespace

bool may_fail_by_values(const TorchNode& node, const TypeMap& types) {
  const OpTraits& traits = find_traits(node);
  const bool asks_values = traits.has(Fact::kCountsByValues) || traits.has(Fact::kSizesByValues) ||
                           traits.index == Index::kPositions || node.kind() == c10::Symbol::aten("masked_scatter");
  const auto inputs = node.inputs();
  return asks_values &&
         std::any_of(inputs.begin(), inputs.end(), [&](const TorchValue* input) { return may_choose(*input, types); });
}

bool reshapes_argument(const TorchNode& node, const TypeMap& types) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  c10::optional<int> out = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("out");
  if (changes_shape(node)) out = 0;
  if (!out || !changes_inputs(node) || types.count(node.input(static_cast<size_t>(*out))) == 0) return false;
  auto stack = made_up_arguments(node, types);
  if (!stack || !(*stack)[static_cast<size_t>(*out)].isTensor()) return true;  // unknown: the shape may change
  const at::Tensor written = (*stack)[static_cast<size_t>(*out)].toTensor();
  const std::vector<int64_t> sizes = written.sizes().vec();
  try {
    const c10::NoGradGuard no_grad;
    call_operator(node, *stack);
  } catch (const std::exception&) {
    return false;  // the operator raises the same error when the model runs
  }
  return written.sizes().vec() != sizes;
}

std::optional<std::vector<at::Tensor>> observed_empties(const TorchNode& node, const TypeMap& types) {
  if (changes_inputs(node)) return std::nullopt;
  std::string ignored;
  const auto results = observed_results(node, types, ignored);
  if (!results) return std::nullopt;
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : *results) {
    if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().is_sparse()) return std::nullopt;
    if (value.toTensor().numel() != 0 || value.toTensor().is_quantized()) return std::nullopt;
    tensors.push_back(value.toTensor().detach().clone());
  }
  return tensors;
}

std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types, std::string& error) {
  const auto results = observed_results(node, types, error);
  if (!results) return std::nullopt;
  std::vector<ValueType> result;
  for (const c10::IValue& value : *results) {
    auto type = type_of(value);
    if (!type) return std::nullopt;
    result.push_back(std::move(*type));
  }
  return result;
}

std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types) {
  std::string ignored;
  return observed_types(node, types, ignored);
}

}  // namespace nnapi_convert
