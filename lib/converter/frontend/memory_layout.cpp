// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/memory_layout.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "lib/converter/frontend/functional_form.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/graph/guarded_call.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {
namespace {

// True for an operator of which a run on made-up tensors shows the memory of its results.
bool may_be_run(const TorchNode& node) {
  return node.blocks().empty() && node.maybeOperator() != nullptr && !node.outputs().empty() &&
         !sizes_depend_on_values(node) && !reads_values(node) && !node.hasSideEffects();
}

bool is_mutable(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema == nullptr || schema->is_mutable();
}

// True for an operator that changes the elements of its first argument and returns it.
bool returns_changed(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || node.outputs().size() != 1 || changes_shape(node)) return false;
  const c10::AliasInfo* changed = schema->arguments().at(0).alias_info();
  const c10::AliasInfo* returned = schema->returns().at(0).alias_info();
  return changed != nullptr && changed->isWrite() && returned != nullptr &&
         returned->beforeSets() == changed->beforeSets();
}

// False for a tensor whose sizes are others than inference found: the made-up values decided on them.
bool has_type(const c10::IValue& value, const ValueType* type) {
  if (!value.isTensor()) return true;
  const auto* tensor = type == nullptr ? nullptr : std::get_if<TensorType>(type);
  return tensor != nullptr && all_fixed(tensor->dims) && value.toTensor().defined() &&
         value.toTensor().sizes().vec() == fixed_values(tensor->dims);
}

// Returns the type with `size` in the place of each open size.
ValueType with_size(const ValueType& type, int64_t size) {
  const auto close = [&](const Dims& dims) {
    Dims closed;
    for (const Dim& dim : dims) closed.emplace_back(dim.evaluate([&](int, int) { return size; }));
    return closed;
  };
  if (const auto* tensor = std::get_if<TensorType>(&type)) return tensor->with_dims(close(tensor->dims));
  if (const auto* dims = std::get_if<Dims>(&type)) return close(*dims);
  const auto* list = std::get_if<TensorTypes>(&type);
  if (list == nullptr) return type;
  TensorTypes closed;
  for (const TensorType& tensor : *list) closed.push_back(tensor.with_dims(close(tensor.dims)));
  return closed;
}

// Returns the same tensor with another element behind each row, and axes in the opposite order in memory.
at::Tensor with_gaps(const at::Tensor& tensor) {
  if (tensor.dim() == 0) return tensor;
  std::vector<int64_t> reversed(static_cast<size_t>(tensor.dim()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const at::Tensor turned = tensor.permute(reversed).contiguous();
  return at::cat({turned, turned}, -1).slice(-1, 0, turned.size(-1)).permute(reversed);
}

std::optional<c10::IValue> laid_out(const ValueType* type, Layout layout) {
  const auto* tensor = type == nullptr ? nullptr : std::get_if<TensorType>(type);
  const auto made = layout == Layout::kUnknown || tensor == nullptr ? std::nullopt : made_up_tensor(*tensor);
  if (!made) return std::nullopt;
  return c10::IValue(layout == Layout::kGaps ? with_gaps(*made) : *made);
}

bool has_memory(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage();
}

}  // namespace

std::optional<at::Tensor> MemoryLayouts::like(const TorchValue& value) {
  const auto found = made_up(value);
  return found && has_memory(*found) ? std::optional(found->toTensor()) : std::nullopt;
}

const TorchValue* MemoryLayouts::viewed(const TorchValue& value) {
  const auto own = like(value);
  if (!own || value.node()->kind() == c10::prim::Constant) return nullptr;
  for (const TorchValue* input : value.node()->inputs()) {
    if (input->type()->kind() != c10::TypeKind::TensorType) continue;
    const auto other = like(*input);
    if (other && other->storage().data() == own->storage().data()) return input;
  }
  return nullptr;
}

std::optional<c10::IValue> MemoryLayouts::made_up(const TorchValue& value) {
  const auto found = made_up_.find(&value);
  if (found != made_up_.end()) return found->second;
  const auto made = make_up(value);
  return made_up_[&value] = made;
}

std::optional<c10::IValue> MemoryLayouts::make_up(const TorchValue& value) {
  if (const auto constant = torch::jit::toIValue(&value)) return *constant;
  const TorchNode& node = *value.node();
  const auto type = types_.find(&value);
  if (node.kind() == c10::prim::Param) {
    const bool is_input = node.owningBlock() == node.owningGraph()->block();
    return is_input && type != types_.end() ? laid_out(&type->second, inputs_) : std::nullopt;
  }
  if (node.kind() == c10::prim::ListConstruct) return made_up_list(node);
  if (type != types_.end()) {
    if (const auto* sizes = std::get_if<Dims>(&type->second)) {
      return all_fixed(*sizes) ? std::optional(sizes_constant(value, fixed_values(*sizes))) : std::nullopt;
    }
  }
  const ValueType* known = type == types_.end() ? nullptr : &type->second;
  if (!may_be_run(node)) return laid_out(known, unknown_);
  if (is_mutable(node)) return returns_changed(node) ? made_up(*node.input(0)) : laid_out(known, unknown_);
  run(node);
  const auto found = made_up_.find(&value);
  return found == made_up_.end() ? laid_out(known, unknown_) : found->second;
}

std::optional<c10::IValue> MemoryLayouts::made_up_list(const TorchNode& list) {
  c10::impl::GenericList values(list.output()->type()->expect<c10::ListType>()->getElementType());
  for (const TorchValue* input : list.inputs()) {
    const auto value = made_up(*input);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return c10::IValue(values);
}

void MemoryLayouts::run(const TorchNode& node) {
  torch::jit::Stack stack;
  for (const TorchValue* input : node.inputs()) {
    const auto value = made_up(*input);
    if (!value) return;
    stack.push_back(*value);
  }
  try {
    const c10::InferenceMode guard;
    call_operator(node, stack);
  } catch (const std::exception&) {
    return;  // the made-up values may cause the error
  }
  if (stack.size() != node.outputs().size()) return;
  for (size_t i = 0; i < stack.size(); ++i) {
    const auto type = types_.find(node.output(i));
    if (has_type(stack[i], type == types_.end() ? nullptr : &type->second)) made_up_[node.output(i)] = stack[i];
  }
}

ContiguousInAnySize::ContiguousInAnySize(const TypeMap& types) {
  for (const int64_t size : {3, 5}) {
    TypeMap& closed = types_.emplace_back();
    for (const auto& [value, type] : types) closed.emplace(value, with_size(type, size));
    for (const Layout layout : {Layout::kContiguous, Layout::kGaps}) tries_.emplace_back(closed, layout, layout);
  }
}

bool ContiguousInAnySize::contains(const TorchValue& value) {
  return std::all_of(tries_.begin(), tries_.end(), [&](MemoryLayouts& layouts) {
    const auto like = layouts.like(value);
    return like && layouts.viewed(value) == nullptr && has_whole_memory(*like) && like->is_contiguous();
  });
}

bool has_whole_memory(const at::Tensor& tensor) {
  const auto bytes = static_cast<size_t>(tensor.numel()) * tensor.element_size();
  return tensor.storage_offset() == 0 && tensor.storage().nbytes() == bytes;
}

}  // namespace nnapi_convert
