// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/op_context.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/types/mapped_memory.h"

namespace nnapi_convert {
namespace {

nnapi::DataType data_type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return nnapi::DataType::kFloat32;
    case at::kInt:
      return nnapi::DataType::kInt32;
    case at::kQInt8:
    case at::kChar:
      return nnapi::DataType::kInt8;
    case at::kQUInt8:
    case at::kByte:
      return nnapi::DataType::kUInt8;
    case at::kBool:
      return nnapi::DataType::kBool;
    default:
      NNC_ASSERT(false, dtype_name(tensor.scalar_type()));
  }
}

}  // namespace

nnapi::Constant to_constant(const at::Tensor& tensor) {
  auto owner = std::make_shared<const at::Tensor>(tensor.contiguous());
  const void* data = owner->data_ptr();
  return nnapi::Constant(data_type_of(tensor), owner->sizes().vec(), data, owner).checked_by(check_of(*owner));
}

LoweredTensor OpContext::lowered(const TorchValue* value) {
  const TensorType type = type_of(value);
  const auto found = operands_.find(value);
  if (found != operands_.end()) return {found->second.at(0), type};
  const auto constant = torch::jit::toIValue(value);
  NNC_ASSERT(constant && constant->isTensor(), value->debugName() + " has a type and no operand");
  const nnapi::OperandId id = constant_operand(constant->toTensor().detach());
  operands_[value] = {id};
  return {id, type};
}

namespace {

// Returns int64 as int32; refuses numbers that int32 doesn't hold.
at::Tensor as_operand_value(const OpArguments& args, const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kLong) return tensor;
  if (tensor.numel() > 0) {
    const auto least = tensor.min().item<int64_t>();
    const auto greatest = tensor.max().item<int64_t>();
    args.require(least >= INT32_MIN && greatest <= INT32_MAX,
                 fmt::format("int64 constants from {} to {}", least, greatest), "numbers that int32 can hold");
  }
  return tensor.to(at::kInt);
}

}  // namespace

nnapi::OperandId OpContext::constant_operand(const at::Tensor& tensor) {
  require(has_operand_code(tensor.scalar_type()), "a constant of dtype " + dtype_name(tensor.scalar_type()), "float32",
          "convert the model with model.float()");
  const TensorType type = type_of_constant(tensor);
  const at::Tensor value = as_operand_value(*this, tensor);
  return builder_.tensor(to_constant(value.dim() == 0 ? value.reshape({1}) : value),
                         static_cast<float>(type.quantization.scale),
                         static_cast<int32_t>(type.quantization.zero_point));
}

LoweredTensor OpContext::operand(const std::string& name) {
  return lowered(input(name));
}

std::vector<LoweredTensor> OpContext::operands(const std::string& name) {
  std::vector<LoweredTensor> result;
  if (const TensorTypes* made = tensor_list(name)) {
    const std::vector<nnapi::OperandId>& ids = operands_.at(input(name));
    for (size_t i = 0; i < made->size(); ++i) result.push_back({ids.at(i), (*made)[i]});
    return result;
  }
  if (is_constant(name)) {
    for (const at::Tensor& tensor : constants(name)) {
      result.push_back({constant_operand(tensor), type_of_constant(tensor)});
    }
    return result;
  }
  for (const TorchValue* element : elements(name)) result.push_back(lowered(element));
  return result;
}

TensorType OpContext::output_type(size_t index) const {
  return type_of(node().output(index));
}

void OpContext::emit(OperationCode code, std::vector<nnapi::OperandId> inputs) {
  set_output(emit_to(code, std::move(inputs), output_type()));
}

namespace {

constexpr int64_t kLargestFilledConstant = 4096;  // elements of a constant with one number everywhere

// True for operations that move elements and take no bool.
bool moves_numbers_only(OperationCode code) {
  const bool moves = has_trait(code, OperationTrait::kMovesValues) || code == OperationCode::CONCATENATION;
  return moves && !find_operation(code)->takes(OperandCode::TENSOR_BOOL8);
}

// Returns a tensor of one number: a constant, or a TILE if the tensor is large or has flexible sizes.
nnapi::OperandId filled(OpContext& ctx, const TensorType& type, double value) {
  const Dim count = product(type.dims);
  if (count.is_fixed() && count.value() <= kLargestFilledConstant) {
    return ctx.constant_operand(full_of(ctx, fixed_values(type.dims), value, type.dtype));
  }
  const nnapi::OperandId one =
      ctx.constant_operand(full_of(ctx, std::vector<int64_t>(type.rank(), 1), value, type.dtype));
  return ctx.emit_to(OperationCode::TILE, {one, ctx.builder().int32_tensor(type.dims)}, type);
}

// Turns bools into numbers by SELECT, as CAST takes no bool.
nnapi::OperandId numbers_of(OpContext& ctx, nnapi::OperandId condition, const TensorType& type) {
  return ctx.emit_to(OperationCode::SELECT, {condition, filled(ctx, type, 1), filled(ctx, type, 0)}, type);
}

// Refuses empty tensors: NNAPI takes a size of 0 for an unknown one.
void require_elements(const OpContext& ctx, const Dims& dims) {
  const bool is_empty = std::find(dims.begin(), dims.end(), Dim(0)) != dims.end();
  ctx.require(!is_empty, "an empty tensor of shape " + to_text(dims), "sizes of 1 or more");
}

}  // namespace

nnapi::OperandId OpContext::emit_to(OperationCode code, std::vector<nnapi::OperandId> inputs, const TensorType& type) {
  for (const nnapi::OperandId id : inputs) require_elements(*this, builder_.model().at(id).dims);
  require_elements(*this, type.dims);
  const auto is_of = [&](size_t i, OperandCode kind) { return builder_.model().at(inputs[i]).type == kind; };
  const auto is_bool = [&](size_t i) { return is_of(i, OperandCode::TENSOR_BOOL8); };
  if (code == OperationCode::CAST && type.dtype != at::kBool && is_bool(0)) {
    return numbers_of(*this, inputs[0], type);
  }
  if (moves_numbers_only(code) && is_bool(0)) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_bool(i)) continue;
      const TensorType numbers{at::kFloat, builder_.model().at(inputs[i]).dims, {}};
      inputs[i] = numbers_of(*this, inputs[i], numbers);
    }
    const nnapi::OperandId moved = emit_to(code, std::move(inputs), {at::kFloat, type.dims, {}});
    return emit_to(OperationCode::NOT_EQUAL, {moved, builder_.tensor(nnapi::Constant::of_floats({0}))}, type);
  }
  if (is_of(0, OperandCode::TENSOR_INT32) && !integers_.takes(code, feature_level())) {
    return integers_.emit(*this, code, std::move(inputs), type);
  }
  if (code == OperationCode::CAST) integers_.require_exact_cast(*this, inputs[0], type);
  require(has_operand_code(type.dtype), "a result of dtype " + dtype_name(type.dtype),
          "float32, int32, bool or quint8");
  return builder_.add(code, std::move(inputs), to_operand(type));
}

nnapi::OperandId OpContext::reshaped(const LoweredTensor& tensor, const Dims& dims) {
  const TensorType type = tensor.type.with_dims(dims);
  const Dims operand_dims = to_operand(type).dims;  // of rank 1 if the tensor has rank 0
  if (to_operand(tensor.type).dims == operand_dims) return tensor.id;
  return emit_to(OperationCode::RESHAPE, {tensor.id, builder_.int32_tensor(operand_dims)}, type);
}

nnapi::OperandId OpContext::sliced(const LoweredTensor& tensor, const Dims& begin, const Dims& end, const Dims& steps) {
  const Dims& dims = tensor.type.dims;
  const auto all_are = [](const Dims& values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [&](const Dim& dim) { return dim == Dim(value); });
  };
  if (all_are(begin, 0) && end == dims && all_are(steps, 1)) return tensor.id;
  TensorType type = tensor.type;
  for (size_t i = 0; i < dims.size(); ++i) {
    type.dims[i] = (end[i] - begin[i] + steps[i] - Dim(1)).floor_div(steps[i].value());
  }
  const bool is_integer = type.dtype == at::kInt || type.dtype == at::kLong;
  if (is_integer && all_are(steps, 1)) {  // STRIDED_SLICE takes no integers
    return emit_to(OperationCode::SLICE, {tensor.id, builder_.int32_tensor(begin), builder_.int32_tensor(type.dims)},
                   type);
  }
  const nnapi::OperandId no_mask = builder_.int32(0);
  return emit_to(OperationCode::STRIDED_SLICE,
                 {tensor.id, builder_.int32_tensor(begin), builder_.int32_tensor(end), builder_.int32_tensor(steps),
                  no_mask, no_mask, no_mask},
                 type);
}

void OpContext::set_output(nnapi::OperandId id, size_t index) {
  operands_[node().output(index)] = {id};
}

void OpContext::set_list_output(std::vector<nnapi::OperandId> ids) {
  operands_[node().output(0)] = std::move(ids);
}

at::Tensor full_of(const OpContext& ctx, const std::vector<int64_t>& sizes, double value, at::ScalarType dtype) {
  if (at::isIntegralType(dtype, false)) {
    const bool is_unsigned = dtype == at::kByte;  // PyTorch takes numbers below 0 for it, too
    const double above = std::ldexp(1.0, static_cast<int>(8 * at::elementSize(dtype)) - (is_unsigned ? 0 : 1));
    const bool fits = value < above && (is_unsigned ? value > -above : value >= -above);
    ctx.require(fits, fmt::format("the number {} with {}", value, dtype_name(dtype)),
                fmt::format("a number of {}", dtype_name(dtype)), "give another number, or cast the tensor before");
  } else if (dtype == at::kFloat) {
    ctx.require(!std::isfinite(value) || std::fabs(value) <= std::numeric_limits<float>::max(),
                fmt::format("the number {} with float32", value), "a number of float32", "give another number");
  }
  return at::full(sizes, value, at::TensorOptions(dtype));
}

}  // namespace nnapi_convert
