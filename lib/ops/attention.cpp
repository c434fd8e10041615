// SPDX-License-Identifier: BSD-3-Clause
// Scaled dot-product attention. Multi-head attention comes here in plain operations:
// lib/ops/decompose_attention.cpp.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/families.h"
#include "lib/ops/matmul.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr auto kNotFused = static_cast<int64_t>(FuseCode::NONE);

Dims with_last_axes_exchanged(Dims dims) {
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  return dims;
}

Dims score_dims(const OpArguments& args) {
  for (const char* name : {"query", "key", "value"}) {
    require_float(args, args.tensor(name));
    require_rank(args, args.tensor(name), 2, 4);
  }
  return matmul_dims(args, args.tensor("query").dims, with_last_axes_exchanged(args.tensor("key").dims));
}

std::vector<ValueType> attention_type(const OpArguments& args) {
  args.require(args.number("dropout_p") == 0, "dropout_p other than 0", "0", "call model.eval() before tracing");
  const Dims scores = score_dims(args);
  const TensorType query = args.tensor("query");
  return {query.with_dims(matmul_dims(args, scores, args.tensor("value").dims)), query.with_dims(scores)};
}

// Returns the mask to add to the scores: a float mask, or minus infinity where a boolean mask is false.
Factor added_mask(OpContext& ctx) {
  const TensorType type = ctx.tensor("attn_mask");
  if (type.dtype != at::kBool) return Factor(ctx, "attn_mask");
  ctx.require(ctx.is_constant("attn_mask"), "a mask of booleans computed at run time", "a constant, or a float mask",
              "add a mask with -inf where attention is not wanted");
  const at::Tensor keeps = ctx.constant("attn_mask");
  return Factor(ctx, at::zeros(keeps.sizes(), at::kFloat).masked_fill(keeps.logical_not(), -INFINITY));
}

Factor causal_mask(OpContext& ctx, const Dims& scores) {
  const Dims square(scores.end() - 2, scores.end());
  ctx.require(all_fixed(square), "is_causal for flexible lengths " + to_text(square), "fixed lengths",
              "give every size of the input with --input");
  return Factor(ctx, at::full(fixed_values(square), -INFINITY).triu(1));
}

Factor masked_scores(OpContext& ctx, const Factor& scores) {
  if (ctx.is_none("attn_mask") && !ctx.boolean("is_causal")) return scores;
  const Factor mask = ctx.boolean("is_causal") ? causal_mask(ctx, scores.dims()) : added_mask(ctx);
  const nnapi::OperandId sum = ctx.emit_to(
      OperationCode::ADD, {scores.operand(), mask.operand(), ctx.builder().int32(kNotFused)}, scores.type());
  return Factor(ctx, LoweredTensor{sum, scores.type()});
}

void lower_attention(OpContext& ctx) {
  const Factor query(ctx, "query");
  const Dim& features = query.dims().back();
  ctx.require(features.is_fixed(), "flexible features " + features.text(), "a fixed number");
  const double scale = 1 / std::sqrt(static_cast<double>(features.value()));
  const Factor scores = masked_scores(ctx, matrix_product(ctx, query.scaled(scale), transposed(Factor(ctx, "key"))));
  const nnapi::OperandId softmax = ctx.emit_to(
      OperationCode::SOFTMAX,
      {scores.operand(), ctx.builder().float32(1), ctx.builder().int32(static_cast<int64_t>(scores.rank()) - 1)},
      scores.type());
  const Factor weights(ctx, LoweredTensor{softmax, scores.type()});
  const Factor result = matrix_product(ctx, weights, Factor(ctx, "value"));
  ctx.set_output(result.reshaped(ctx.output_type().dims).operand());
  ctx.set_output(weights.operand(), 1);
}

}  // namespace

OpRules attention_rules() {
  return {
      {"aten::_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
       "dropout_p=0., bool need_attn_weights=False, bool is_causal=False) -> (Tensor, Tensor)",
       3, "float32; masks of booleans: constant ones", attention_type, lower_attention, costing(Macs::kAttention)},
  };
}

}  // namespace nnapi_convert
