// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of quantised tensors: with each other, and with numbers.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kLargest = 255;  // the largest quint8

std::vector<ValueType> quantized_type(const OpArguments& args) {
  const TensorType qa = args.tensor("qa");
  const TensorType qb = args.tensor("qb");
  require_rank(args, qa, 1, kHighestRank);
  require_rank(args, qb, 1, kHighestRank);
  args.require(qa.dtype == at::kQUInt8 && qb.dtype == at::kQUInt8, fmt::format("{} and {}", to_text(qa), to_text(qb)),
               "quint8 tensors");
  return {
      TensorType{at::kQUInt8, broadcast(args, qa.dims, qb.dims), {args.number("scale"), args.integer("zero_point")}}};
}

template <FuseCode activation>
void lower_quantized_add(OpContext& ctx) {
  const nnapi::OperandId fuse = ctx.builder().int32(static_cast<int64_t>(activation));
  ctx.emit(OperationCode::ADD, {ctx.operand("qa").id, ctx.operand("qb").id, fuse});
}

// Multiplies quantised tensors. NNAPI's MUL needs an output scale above the product of the input scales; otherwise
// multiplies in float.
template <FuseCode activation>
void lower_quantized_mul(OpContext& ctx) {
  const LoweredTensor qa = ctx.operand("qa");
  const LoweredTensor qb = ctx.operand("qb");
  const TensorType result = ctx.output_type();
  const nnapi::OperandId fuse = ctx.builder().int32(static_cast<int64_t>(activation));
  const float product = static_cast<float>(qa.type.quantization.scale) * static_cast<float>(qb.type.quantization.scale);
  if (static_cast<float>(result.quantization.scale) > product) {
    return ctx.emit(OperationCode::MUL, {qa.id, qb.id, fuse});
  }
  const nnapi::OperandId left = ctx.emit_to(OperationCode::DEQUANTIZE, {qa.id}, {at::kFloat, qa.type.dims, {}});
  const nnapi::OperandId right = ctx.emit_to(OperationCode::DEQUANTIZE, {qb.id}, {at::kFloat, qb.type.dims, {}});
  const nnapi::OperandId real = ctx.emit_to(OperationCode::MUL, {left, right, fuse}, {at::kFloat, result.dims, {}});
  ctx.emit(OperationCode::QUANTIZE, {real});
}

TensorType quint8_tensor(const OpArguments& args) {
  const TensorType type = args.tensor("qa");
  args.require(type.dtype == at::kQUInt8, "a tensor " + to_text(type), "quint8");
  require_rank(args, type, 1, kHighestRank);
  return type;
}

// The type of a sum with a number: PyTorch moves the zero point by the number; if that leaves 0..255, it widens the
// scale to hold the result.
std::vector<ValueType> add_number_type(const OpArguments& args) {
  TensorType type = quint8_tensor(args);
  Quantization& quantization = type.quantization;
  const int64_t zero_point =
      quantization.zero_point - static_cast<int64_t>(std::nearbyint(number_value(args, "b") / quantization.scale));
  quantization.zero_point = std::min(kLargest, std::max<int64_t>(0, zero_point));
  if (zero_point < 0) quantization.scale *= static_cast<double>(kLargest - zero_point) / kLargest;
  if (zero_point > kLargest) quantization.scale *= static_cast<double>(zero_point) / kLargest;
  return {type};
}

// The type of a product with a number: PyTorch multiplies the scale; a negative factor reverses the order of the
// values.
std::vector<ValueType> mul_number_type(const OpArguments& args) {
  TensorType type = quint8_tensor(args);
  const double factor = number_value(args, "b");
  Quantization& quantization = type.quantization;
  if (factor == 0) {
    quantization = {1, 0};
    return {type};
  }
  quantization.scale *= std::abs(factor);
  if (factor < 0) quantization.zero_point = kLargest - quantization.zero_point;
  return {type};
}

// Returns a number as a quantised constant that is exact: the greatest integer, or 0 with the zero point 255 for a
// negative number.
nnapi::OperandId quantized_number(OpContext& ctx, double value) {
  const double scale = value == 0 ? 1.0 / kLargest : std::abs(value) / kLargest;
  const at::Tensor byte = at::full({1}, value > 0 ? kLargest : 0, at::TensorOptions(at::kByte));
  return ctx.constant_operand(at::_make_per_tensor_quantized_tensor(byte, scale, value < 0 ? kLargest : 0));
}

template <OperationCode code, FuseCode activation>
void lower_with_number(OpContext& ctx) {
  const LoweredTensor qa = ctx.operand("qa");
  double value = number_value(ctx, "b");
  if (code == OperationCode::ADD)
    value = std::nearbyint(value / qa.type.quantization.scale) * qa.type.quantization.scale;
  const nnapi::OperandId fuse = ctx.builder().int32(static_cast<int64_t>(activation));
  ctx.emit(code, {qa.id, quantized_number(ctx, value), fuse});
}

OpRule number_rule(const char* schema, ShapeRule shape, LowerRule lower) {
  return {schema, 1, "quint8", shape, lower, kElementwise};
}

}  // namespace

OpRules quantized_binary_rules() {
  constexpr LowerRule add = lower_with_number<OperationCode::ADD, FuseCode::NONE>;
  constexpr LowerRule add_relu = lower_with_number<OperationCode::ADD, FuseCode::RELU>;
  constexpr LowerRule mul = lower_with_number<OperationCode::MUL, FuseCode::NONE>;
  constexpr LowerRule mul_relu = lower_with_number<OperationCode::MUL, FuseCode::RELU>;
  return {
      {"quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8", quantized_type,
       lower_quantized_add<FuseCode::NONE>, kElementwise},
      {"quantized::add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8",
       quantized_type, lower_quantized_add<FuseCode::RELU>, kElementwise},
      {"quantized::mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8", quantized_type,
       lower_quantized_mul<FuseCode::NONE>, kElementwise},
      {"quantized::mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8",
       quantized_type, lower_quantized_mul<FuseCode::RELU>, kElementwise},
      number_rule("quantized::add.Scalar(Tensor qa, Scalar b) -> Tensor qc", add_number_type, add),
      number_rule("quantized::add.Scalar2(Scalar b, Tensor qa) -> Tensor qc", add_number_type, add),
      number_rule("quantized::add_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", add_number_type, add_relu),
      number_rule("quantized::add_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", add_number_type, add_relu),
      number_rule("quantized::add_scalar(Tensor qa, Scalar b) -> Tensor qc", add_number_type, add),
      number_rule("quantized::add_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc", add_number_type, add),
      number_rule("quantized::add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", add_number_type, add_relu),
      // add_scalar_relu.Tensor is left out: PyTorch 1.13 computes no relu there.
      number_rule("quantized::mul.Scalar(Tensor qa, Scalar b) -> Tensor qc", mul_number_type, mul),
      number_rule("quantized::mul.Scalar2(Scalar b, Tensor qa) -> Tensor qc", mul_number_type, mul),
      number_rule("quantized::mul_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", mul_number_type, mul_relu),
      number_rule("quantized::mul_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", mul_number_type, mul_relu),
      number_rule("quantized::mul_scalar(Tensor qa, Scalar b) -> Tensor qc", mul_number_type, mul),
      number_rule("quantized::mul_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc", mul_number_type, mul),
      number_rule("quantized::mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", mul_number_type, mul_relu),
      number_rule("quantized::mul_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc", mul_number_type, mul_relu),
  };
}

}  // namespace nnapi_convert
