// SPDX-License-Identifier: BSD-3-Clause
// Functions of quantised tensors with a scale of their own that no float operator's file has: sigmoid, dropout, batch
// norms with relu.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns values per channel (axis 1) as a constant that broadcasts against an operand of `rank` axes.
Expression channel_constant(OpContext& ctx, const at::Tensor& values, size_t rank) {
  std::vector<int64_t> shape(rank - 1, 1);
  shape[0] = values.numel();
  const at::Tensor shaped = values.to(at::kFloat).reshape(shape);
  return {ctx, {ctx.constant_operand(shaped), {at::kFloat, to_dims(shape), {}}}};
}

template <size_t lowest, size_t highest>
std::vector<ValueType> quantized_batch_norm_type(const OpArguments& args) {
  const std::vector<ValueType> types = given_quantization(args);
  const TensorType type = std::get<TensorType>(types[0]);
  require_rank(args, type, lowest, highest);
  const int64_t channels = args.constant("mean").numel();
  args.require(type.dims[1] == Dim(channels), "a tensor " + to_text(type),
               fmt::format("{} channels (dimension 1)", channels), kSeeInput);
  return types;
}

void lower_batch_norm_relu(OpContext& ctx) {
  const Expression x = dequantize(argument(ctx, "qx"));
  const size_t rank = x.type().rank();
  at::Tensor factor = (ctx.constant("var").to(at::kDouble) + ctx.number("eps")).rsqrt();
  if (!ctx.is_none("weight")) factor = factor * ctx.constant("weight").to(at::kDouble);
  at::Tensor offset = -ctx.constant("mean").to(at::kDouble) * factor;
  if (!ctx.is_none("bias")) offset = offset + ctx.constant("bias").to(at::kDouble);
  relu(x * channel_constant(ctx, factor, rank) + channel_constant(ctx, offset, rank)).set_output();
}

// sigmoid: LOGISTIC itself gives the scale 1/256.
void lower_sigmoid(OpContext& ctx) {
  const Expression x = argument(ctx, "qx");
  const TensorType type = ctx.output_type();
  if (type.quantization == Quantization{1.0 / 256, 0}) return x.then(OperationCode::LOGISTIC, {}, type).set_output();
  logistic(dequantize(x)).set_output();
}

std::vector<ValueType> quantized_dropout_type(const OpArguments& args) {
  args.require(!args.boolean("training"), "training = True", "False", "call model.eval() before tracing or scripting");
  return float_or_quantized_self(args);
}

void lower_dropout(OpContext& ctx) {
  ctx.set_output(ctx.operand("self").id);
}

}  // namespace

OpRules quantized_unary_rules() {
  const char* norm_note = "quint8, in float between DEQUANTIZE and QUANTIZE";
  return {
      {"quantized::batch_norm_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, norm_note, quantized_batch_norm_type<4, 4>, lower_batch_norm_relu, row_wise(Rows::kSamples)},
      {"quantized::batch_norm1d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, norm_note, quantized_batch_norm_type<2, 3>, lower_batch_norm_relu, row_wise(Rows::kSamples)},
      {"quantized::batch_norm2d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, norm_note, quantized_batch_norm_type<4, 4>, lower_batch_norm_relu, row_wise(Rows::kSamples)},
      {"quantized::batch_norm3d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, "
       "float output_scale, int output_zero_point) -> Tensor",
       3, norm_note, quantized_batch_norm_type<5, 5>, lower_batch_norm_relu, row_wise(Rows::kSamples)},
      {"quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor", 1,
       "quint8; scales other than (1/256, 0): feature level 3", given_quantization, lower_sigmoid, kElementwise},
      {"quantized::dropout(Tensor self, float output_scale, int output_zero_point, Scalar p=0.5, bool training=False) "
       "-> Tensor",
       1, "quint8, evaluation mode", quantized_dropout_type, lower_dropout, kElementwise},
  };
}

}  // namespace nnapi_convert
