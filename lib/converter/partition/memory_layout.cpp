#include "lib/converter/partition/memory_layout.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/infer/trial_run.h"
#include "lib/converter/normalise/remove_inplace.h"

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
    const auto* tensor = is_input && type != types_.end() ? std::get_if<TensorType>(&type->second) : nullptr;
    const auto made = tensor != nullptr ? made_up_tensor(*tensor) : std::nullopt;
    return made ? std::optional<c10::IValue>(*made) : std::nullopt;
  }
  if (node.kind() == c10::prim::ListConstruct) return made_up_list(node);
  if (type != types_.end()) {
    if (const auto* sizes = std::get_if<Dims>(&type->second)) {
      return all_fixed(*sizes) ? std::optional(sizes_constant(value, fixed_values(*sizes))) : std::nullopt;
    }
  }
  if (!may_be_run(node)) return std::nullopt;
  if (is_mutable(node)) return returns_changed(node) ? made_up(*node.input(0)) : std::nullopt;
  run(node);
  const auto found = made_up_.find(&value);
  return found == made_up_.end() ? std::nullopt : found->second;
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
    node.getOperation()(stack);
  } catch (const std::exception&) {
    return;  // the made-up values may cause the error
  }
  if (stack.size() != node.outputs().size()) return;
  for (size_t i = 0; i < stack.size(); ++i) {
    const auto type = types_.find(node.output(i));
    if (has_type(stack[i], type == types_.end() ? nullptr : &type->second)) made_up_[node.output(i)] = stack[i];
  }
}

}  // namespace nnapi_convert
