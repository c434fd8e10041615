// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/factor.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// True if moving axes by `order` leaves the sequence of elements as it was: axes of size 1 may go anywhere.
bool keeps_sequence(const Dims& dims, const std::vector<int64_t>& order) {
  int64_t last = -1;
  for (const int64_t axis : order) {
    if (dims[static_cast<size_t>(axis)] == Dim(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

nnapi::OperandId permuted_channels(OpContext& ctx, const nnapi::Operand& weight, const std::vector<int64_t>& order) {
  auto channels = std::make_shared<nnapi::ChannelScales>(*weight.channels);
  const auto axis = std::find(order.begin(), order.end(), static_cast<int64_t>(channels->axis));
  channels->axis = static_cast<size_t>(axis - order.begin());
  return ctx.builder().channel_tensor(weight.constant()->then(nnapi::Permute{order}), std::move(channels));
}

}  // namespace

LoweredTensor reshaped(OpContext& ctx, const LoweredTensor& tensor, const Dims& dims) {
  if (dims == tensor.type.dims) return tensor;
  const TensorType type = tensor.type.with_dims(dims);
  const nnapi::Operand operand = ctx.builder().model().at(tensor.id);
  const Dims target = to_operand(type).dims;  // [1] for rank 0
  if (target == operand.dims) return {tensor.id, type};
  if (const nnapi::Constant* constant = operand.constant()) {
    return {
        ctx.builder().tensor(constant->then(nnapi::Reshape{fixed_values(target)}), operand.scale, operand.zero_point),
        type};
  }
  return {ctx.emit_to(OperationCode::RESHAPE, {tensor.id, ctx.builder().int32_tensor(target)}, type), type};
}

LoweredTensor permuted(OpContext& ctx, const LoweredTensor& tensor, const std::vector<int64_t>& order) {
  const TensorType type = tensor.type.with_dims(nnapi::permute(tensor.type.dims, order));
  const nnapi::Operand operand = ctx.builder().model().at(tensor.id);
  if (operand.channels != nullptr) return {permuted_channels(ctx, operand, order), type};
  if (keeps_sequence(tensor.type.dims, order)) return reshaped(ctx, tensor, type.dims);
  if (const nnapi::Constant* constant = operand.constant()) {
    return {ctx.builder().tensor(constant->then(nnapi::Permute{order}), operand.scale, operand.zero_point), type};
  }
  return {ctx.emit_to(OperationCode::TRANSPOSE, {tensor.id, ctx.builder().int32_tensor(to_dims(order))}, type), type};
}

std::vector<Factor> list_of_factors(OpContext& ctx, const std::string& name) {
  std::vector<Factor> factors;
  if (ctx.is_constant(name)) {
    for (const at::Tensor& tensor : ctx.constants(name)) factors.push_back(Factor(ctx, tensor));
    return factors;
  }
  const auto elements = ctx.input(name)->node()->inputs();
  const std::vector<LoweredTensor> operands = ctx.operands(name);
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto constant = torch::jit::toIValue(elements[i]);
    factors.push_back(constant ? Factor(ctx, constant->toTensor().detach()) : Factor(ctx, operands[i]));
  }
  return factors;
}

Factor::Factor(OpContext& ctx, const std::string& name) : ctx_(&ctx) {
  if (ctx.is_constant(name)) {
    *this = Factor(ctx, ctx.float_constant(name));
    return;
  }
  tensor_ = ctx.operand(name);
  require_float(ctx, tensor_.type);
}

Factor::Factor(OpContext& ctx, at::Tensor constant) : ctx_(&ctx), constant_(std::move(constant)) {
  tensor_.type = {at::kFloat, to_dims(constant_.sizes().vec()), {}};
}

Factor Factor::with(OperationCode code, std::vector<nnapi::OperandId> arguments, const Dims& dims) const {
  const TensorType type = tensor_.type.with_dims(dims);
  arguments.insert(arguments.begin(), tensor_.id);
  return Factor(*ctx_, LoweredTensor{ctx_->emit_to(code, std::move(arguments), type), type});
}

Factor Factor::reshaped(const Dims& dims) const {
  if (is_constant()) return Factor(*ctx_, constant_.reshape(fixed_values(dims)));
  return Factor(*ctx_, nnapi_convert::reshaped(*ctx_, tensor_, dims));
}

Factor Factor::permuted(const std::vector<int64_t>& order) const {
  if (is_constant()) return Factor(*ctx_, constant_.permute(order));
  return Factor(*ctx_, nnapi_convert::permuted(*ctx_, tensor_, order));
}

Factor Factor::expanded(const Dims& dims) const {
  Dims counts;
  for (size_t i = 0; i < dims.size(); ++i) counts.push_back(this->dims()[i] == Dim(1) ? dims[i] : Dim(1));
  if (product(counts) == Dim(1)) return *this;
  if (is_constant() && all_fixed(dims)) return Factor(*ctx_, constant_.expand(fixed_values(dims)));
  const nnapi::OperandId multiples = ctx_->builder().int32_tensor(counts);
  return Factor(*ctx_, LoweredTensor{operand(), tensor_.type}).with(OperationCode::TILE, {multiples}, dims);
}

std::vector<Factor> Factor::split(int64_t count) const {
  std::vector<Factor> parts;
  if (count == 1) return {*this};
  if (is_constant()) {
    for (const at::Tensor& part : constant_.chunk(count)) parts.push_back(Factor(*ctx_, part));
    return parts;
  }
  Dims part = dims();
  part[0] = *part[0].exact_div(Dim(count));
  const TensorType type = tensor_.type.with_dims(part);
  const std::vector<nnapi::Operand> outputs(static_cast<size_t>(count), to_operand(type));
  nnapi::Builder& builder = ctx_->builder();
  for (const nnapi::OperandId id :
       builder.add(OperationCode::SPLIT, {tensor_.id, builder.int32(0), builder.int32(count)}, outputs)) {
    parts.push_back(Factor(*ctx_, LoweredTensor{id, type}));
  }
  return parts;
}

Factor Factor::scaled(double factor) const {
  if (factor == 1) return *this;
  if (is_constant()) return Factor(*ctx_, constant_ * factor);
  nnapi::Builder& builder = ctx_->builder();
  const nnapi::OperandId number = builder.tensor(nnapi::Constant::of_floats({static_cast<float>(factor)}));
  return with(OperationCode::MUL, {number, builder.int32(static_cast<int64_t>(FuseCode::NONE))}, dims());
}

nnapi::OperandId Factor::operand() const {
  return is_constant() ? ctx_->constant_operand(constant_) : tensor_.id;
}

}  // namespace nnapi_convert
