// Batch norm, lowered plainly to MUL and ADD; fold_affine moves both into the convolution before.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

std::vector<ValueType> batch_norm_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  require_rank(args, input, 2, 4);
  args.require(!args.boolean("training"), "training = True", "False", "call model.eval() before tracing or scripting");
  args.require(!args.is_none("running_mean") && !args.is_none("running_var"), "no running statistics",
               "running_mean and running_var", "make the layer with track_running_stats=True");
  const int64_t channels = args.constant("running_mean").numel();
  args.require(input.dims[1] == Dim(channels), "an input " + to_text(input),
               fmt::format("{} channels (dimension 1)", channels), "see --input");
  return {input};
}

// A vector of a value per channel that broadcasts against an operand of `rank` axes.
nnapi::OperandId per_channel(OpContext& ctx, const at::Tensor& values, size_t rank) {
  std::vector<int64_t> shape(rank - 1, 1);
  shape[0] = values.numel();
  return ctx.builder().tensor(to_constant(values.to(at::kFloat)).then(nnapi::Reshape{shape}));
}

void lower_batch_norm(OpContext& ctx) {
  const LoweredTensor input = ctx.operand("input");
  const at::Tensor mean = ctx.constant("running_mean").to(at::kDouble);
  const at::Tensor variance = ctx.constant("running_var").to(at::kDouble);
  at::Tensor factor = (variance + ctx.number("eps")).rsqrt();
  if (!ctx.is_none("weight")) factor = factor * ctx.constant("weight").to(at::kDouble);
  at::Tensor offset = -mean * factor;
  if (!ctx.is_none("bias")) offset = offset + ctx.constant("bias").to(at::kDouble);
  const nnapi::OperandId no_activation = ctx.builder().int32(static_cast<int64_t>(FuseCode::NONE));
  const size_t rank = input.type.rank();
  const nnapi::OperandId scaled =
      ctx.emit_to(OperationCode::MUL, {input.id, per_channel(ctx, factor, rank), no_activation}, input.type);
  ctx.emit(OperationCode::ADD, {scaled, per_channel(ctx, offset, rank), no_activation});
}

}  // namespace

OpRules norm_rules() {
  return {
      {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
       "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       1, "float32, evaluation mode; folded into the convolution or linear layer before", batch_norm_type,
       lower_batch_norm},
  };
}

}  // namespace nnapi_convert
