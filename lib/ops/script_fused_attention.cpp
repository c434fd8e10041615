// SPDX-License-Identifier: BSD-3-Clause
// Replaces PyTorch 2's fused layers of attention with masks that 1.13.1 doesn't run on a CPU: type 0 is [length,
// length], as a causal mask is, and type 2 is [batch, heads, length, length]. Either hides the scores where it isn't 0,
// whatever its dtype, as ATen reads it. Layers without a mask, or with one of type 1, stay as they are
// (decompose_attention.cpp); where a script computes the type, both are branches.
#include "lib/ops/plain_calls.h"
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

bool may_have_other_mask(torch::jit::Node& node) {
  if (is_none(&node, "mask")) return false;
  const auto type = known(&node, "mask_type");
  return !type || (type->isInt() && type->toInt() != 1);
}

// The second result is unused if need_weights is False; PyTorch gives an undefined tensor then.
constexpr const char* kMultiHead = R"(
def _native_multi_head_attention(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_head: int,
                                 qkv_weight: Tensor, qkv_bias: Tensor, proj_weight: Tensor, proj_bias: Tensor,
                                 mask: Optional[Tensor], need_weights: bool, average_attn_weights: bool,
                                 mask_type: Optional[int]) -> Tuple[Tensor, Tensor]:
  if mask is None or mask_type is None or mask_type == 1:
    return torch._native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias,
                                              proj_weight, proj_bias, mask, need_weights, average_attn_weights, 1)
  shape = [query.size(0), query.size(1), num_head, embed_dim // num_head]
  weights = torch.chunk(qkv_weight, 3)
  biases = torch.chunk(qkv_bias, 3)
  queries = torch.permute(torch.reshape(torch.linear(query, weights[0], biases[0]), shape), [0, 2, 1, 3])
  keys = torch.permute(torch.reshape(torch.linear(key, weights[1], biases[1]), shape), [0, 2, 3, 1])
  values = torch.permute(torch.reshape(torch.linear(value, weights[2], biases[2]), shape), [0, 2, 1, 3])
  scores = torch.matmul(queries * float(embed_dim // num_head) ** -0.5, keys)
  attention = torch.softmax(torch.masked_fill(scores, mask.to(11), float("-inf")), -1)
  joined = torch.permute(torch.matmul(attention, values), [0, 2, 1, 3])
  result = torch.linear(torch.reshape(joined, [query.size(0), query.size(1), embed_dim]), proj_weight, proj_bias)
  if need_weights and average_attn_weights:
    attention = torch.mean(attention, [1])
  return result, attention
)";

constexpr const char* kEncoderLayer = R"(
def _transformer_encoder_layer_fwd(src: Tensor, embed_dim: int, num_heads: int, qkv_weight: Tensor, qkv_bias: Tensor,
                                   proj_weight: Tensor, proj_bias: Tensor, use_gelu: bool, norm_first: bool,
                                   eps: float, norm_weight_1: Tensor, norm_bias_1: Tensor, norm_weight_2: Tensor,
                                   norm_bias_2: Tensor, ffn_weight_1: Tensor, ffn_bias_1: Tensor,
                                   ffn_weight_2: Tensor, ffn_bias_2: Tensor, mask: Optional[Tensor],
                                   mask_type: Optional[int]) -> Tensor:
  if mask is None or mask_type is None or mask_type == 1:
    return torch._transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
                                                proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1,
                                                norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2,
                                                ffn_bias_2, mask, 1)
  x = src
  if norm_first:
    x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)
  attention, unused = torch._native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias,
                                                         proj_weight, proj_bias, mask, False, False, mask_type)
  x = src + attention
  if norm_first:
    hidden = torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)
  else:
    x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)
    hidden = x
  hidden = torch.linear(hidden, ffn_weight_1, ffn_bias_1)
  if use_gelu:
    hidden = torch.gelu(hidden)
  else:
    hidden = torch.relu(hidden)
  x = x + torch.linear(hidden, ffn_weight_2, ffn_bias_2)
  if norm_first:
    return x
  return torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)
)";

}  // namespace

ScriptForms fused_attention_scripts() {
  return {
      {"aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor "
       "qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, "
       "bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
       kOldRelease, kMultiHead, "", may_have_other_mask},
      {"aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor "
       "qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor "
       "norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor "
       "ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
       kOldRelease, kEncoderLayer, "", may_have_other_mask},
  };
}

}  // namespace nnapi_convert
