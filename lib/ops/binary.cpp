// Arithmetic of two tensors, or of a tensor and a number.
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr auto kNoActivation = static_cast<int64_t>(FuseCode::NONE);

// PyTorch treats a tensor of rank 0 as a number: its dtype doesn't count beside a tensor of rank 1 or more.
bool is_number(const OpArguments& args, const std::string& name) {
  return args.is_constant(name) && args.tensor(name).rank() == 0;
}

std::vector<ValueType> broadcast_type(const OpArguments& args) {
  TensorType self = args.tensor("self");
  TensorType other = args.tensor("other");
  if (is_number(args, "other")) other.dtype = self.dtype;
  if (is_number(args, "self")) self.dtype = other.dtype;
  require_rank(args, self, is_number(args, "self") ? 0 : 1, 4);
  require_rank(args, other, is_number(args, "other") ? 0 : 1, 4);
  args.require(self.dtype == other.dtype, fmt::format("{} and {}", to_text(self), to_text(other)), "equal dtypes");
  require_float(args, self);
  return {self.with_dims(broadcast(args, self.dims, other.dims))};
}

std::vector<ValueType> float_self(const OpArguments& args) {
  require_float(args, args.tensor("self"));
  return {args.tensor("self")};
}

nnapi::OperandId number_operand(OpContext& ctx, double value) {
  return ctx.builder().tensor(nnapi::Constant::of_floats({static_cast<float>(value)}));
}

// An operand that NNAPI can broadcast: it has no tensors of rank 0.
nnapi::OperandId tensor_operand(OpContext& ctx, const std::string& name) {
  if (is_number(ctx, name)) return number_operand(ctx, ctx.constant(name).item().toDouble());
  return ctx.operand(name).id;
}

// other * alpha, folded where it is a constant.
nnapi::OperandId scaled_operand(OpContext& ctx, nnapi::OperandId other, const TensorType& type, double alpha) {
  if (alpha == 1) return other;
  return ctx.emit_to(OperationCode::MUL, {other, number_operand(ctx, alpha), ctx.builder().int32(kNoActivation)}, type);
}

void emit_binary(OpContext& ctx, OperationCode code, nnapi::OperandId left, nnapi::OperandId right) {
  ctx.emit(code, {left, right, ctx.builder().int32(kNoActivation)});
}

template <OperationCode code>
void lower_tensors(OpContext& ctx) {
  const nnapi::OperandId self = tensor_operand(ctx, "self");
  nnapi::OperandId other = tensor_operand(ctx, "other");
  if (ctx.has("alpha")) other = scaled_operand(ctx, other, ctx.tensor("other"), ctx.number("alpha"));
  emit_binary(ctx, code, self, other);
}

template <OperationCode code>
void lower_scalar(OpContext& ctx) {
  const double alpha = ctx.has("alpha") ? ctx.number("alpha") : 1.0;
  emit_binary(ctx, code, ctx.operand("self").id, number_operand(ctx, ctx.number("other") * alpha));
}

// other - alpha * self.
void lower_rsub_scalar(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const nnapi::OperandId scaled = scaled_operand(ctx, self.id, self.type, ctx.number("alpha"));
  emit_binary(ctx, OperationCode::SUB, number_operand(ctx, ctx.number("other")), scaled);
}

std::vector<ValueType> quantized_type(const OpArguments& args) {
  const TensorType qa = args.tensor("qa");
  const TensorType qb = args.tensor("qb");
  require_rank(args, qa, 1, 4);
  require_rank(args, qb, 1, 4);
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

// NNAPI's MUL needs an output scale above the product of the input scales. Otherwise multiply in float.
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

}  // namespace

OpRules binary_rules() {
  return {
      {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 1, "float32", broadcast_type,
       lower_tensors<OperationCode::ADD>},
      {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 1, "float32", float_self,
       lower_scalar<OperationCode::ADD>},
      {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 2, "float32", broadcast_type,
       lower_tensors<OperationCode::SUB>},
      {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 2, "float32", float_self,
       lower_scalar<OperationCode::SUB>},
      {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", 2, "float32", float_self,
       lower_rsub_scalar},
      {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", 1, "float32", broadcast_type,
       lower_tensors<OperationCode::MUL>},
      {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", 1, "float32", float_self,
       lower_scalar<OperationCode::MUL>},
      {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", 2, "float32", broadcast_type,
       lower_tensors<OperationCode::DIV>},
      {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", 2, "float32", float_self,
       lower_scalar<OperationCode::DIV>},
      {"quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8", quantized_type,
       lower_quantized_add<FuseCode::NONE>},
      {"quantized::add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8",
       quantized_type, lower_quantized_add<FuseCode::RELU>},
      {"quantized::mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8", quantized_type,
       lower_quantized_mul<FuseCode::NONE>},
      {"quantized::mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", 1, "quint8",
       quantized_type, lower_quantized_mul<FuseCode::RELU>},
  };
}

}  // namespace nnapi_convert
