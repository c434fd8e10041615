// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

// A row that the mask hides completely gives 0, as in PyTorch 2.5 and later; before 2.5 it gave NaN. The softmax gets
// such a row unhidden.
constexpr const char* kAttention = R"(
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor],
                                 dropout_p: float, is_causal: bool, scale: Optional[float], enable_gqa: bool) -> Tensor:
  keys = key
  values = value
  if enable_gqa:
    keys = torch.repeat_interleave(key, query.size(-3) // key.size(-3), -3)
    values = torch.repeat_interleave(value, query.size(-3) // value.size(-3), -3)
  if scale is None:
    factor = float(query.size(-1)) ** -0.5
  else:
    factor = scale
  scores = torch.matmul(query * factor, torch.transpose(keys, -2, -1))
  if is_causal:
    later = torch.full([query.size(-2), key.size(-2)], float("-inf"), dtype=scores.dtype, device=scores.device)
    scores = scores + torch.triu(later, 1)
  if attn_mask is None:
    weights = torch.softmax(scores, -1)
  else:
    if attn_mask.dtype == 11:
      hidden = torch.logical_not(attn_mask)
      rows = torch.all(hidden, -1, True)
      shown = torch.masked_fill(scores, torch.logical_and(hidden, torch.logical_not(rows)), float("-inf"))
    else:
      rows = torch.all(torch.eq(attn_mask, float("-inf")), -1, True)
      shown = scores + torch.masked_fill(attn_mask, rows, 0.)
    weights = torch.softmax(shown, -1) * torch.logical_not(rows).to(shown.dtype)
  if dropout_p > 0.:
    weights = torch.dropout(weights, dropout_p, True)
  return torch.matmul(weights, values)
)";

constexpr const char* kSafeSoftmax = R"(
def _safe_softmax(self: Tensor, dim: int, dtype: Optional[int]) -> Tensor:
  hidden = torch.all(torch.eq(self, float("-inf")), dim, True)
  shown = torch.masked_fill(self, hidden, 0.)
  result = torch.softmax(shown, dim, dtype)
  return result * torch.logical_not(hidden).to(result.dtype)
)";

// The default of eps is the distance from 1 to the next number of the dtype.
constexpr const char* kRmsNorm = R"(
def rms_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor], eps: Optional[float]) -> Tensor:
  if eps is None:
    if input.dtype == 7:
      least = 2.220446049250313e-16
    elif input.dtype == 5:
      least = 0.0009765625
    elif input.dtype == 15:
      least = 0.0078125
    else:
      least = 1.1920928955078125e-07
  else:
    least = eps
  dims = [-1 - i for i in range(len(normalized_shape))]
  result = input * torch.rsqrt(torch.mean(input * input, dims, True) + least)
  if weight is not None:
    result = result * weight
  return result
)";

constexpr const char* kFusedRmsNorm = R"(
def _fused_rms_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor],
                    eps: Optional[float]) -> Tuple[Tensor, Tensor]:
  if eps is None:
    if input.dtype == 7:
      least = 2.220446049250313e-16
    elif input.dtype == 5:
      least = 0.0009765625
    elif input.dtype == 15:
      least = 0.0078125
    else:
      least = 1.1920928955078125e-07
  else:
    least = eps
  dims = [-1 - i for i in range(len(normalized_shape))]
  inverse = torch.rsqrt(torch.mean(input * input, dims, True) + least)
  result = input * inverse
  if weight is not None:
    result = result * weight
  return result, inverse
)";

constexpr const char* kBatchNorm = R"(
def _native_batch_norm_legit(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Tensor,
                             running_var: Tensor, training: bool, momentum: float,
                             eps: float) -> Tuple[Tensor, Tensor, Tensor]:
  return torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
)";

constexpr const char* kBatchNormOfBatch = R"(
def _native_batch_norm_legit(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], training: bool,
                             momentum: float, eps: float) -> Tuple[Tensor, Tensor, Tensor]:
  return torch.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)
)";

constexpr const char* kBatchNormOfStatistics = R"(
def _native_batch_norm_legit_no_training(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                                         running_mean: Tensor, running_var: Tensor, momentum: float,
                                         eps: float) -> Tuple[Tensor, Tensor, Tensor]:
  result = torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)
  return result, torch.zeros([0]), torch.zeros([0])
)";

constexpr const char* kBatchNormNoUpdate = R"(
def _batch_norm_no_update(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                          running_mean: Optional[Tensor], running_var: Optional[Tensor], momentum: float,
                          eps: float) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
  result = torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)
  return result, torch.zeros([0]), torch.zeros([0]), torch.zeros([0], dtype=0)
)";

constexpr const char* kBatchNormWithUpdate = R"(
def _batch_norm_with_update(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Tensor,
                            running_var: Tensor, momentum: float,
                            eps: float) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
  result, mean, inverse = torch.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
  return result, mean, inverse, torch.zeros([0], dtype=0)
)";

// Returns the new running statistics as results instead of changing them in place.
constexpr const char* kBatchNormFunctional = R"(
def _native_batch_norm_legit_functional(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                                        running_mean: Tensor, running_var: Tensor, training: bool, momentum: float,
                                        eps: float) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
  if training:
    result, mean, inverse = torch.native_batch_norm(input, weight, bias, None, None, True, momentum, eps)
    channels = torch.flatten(torch.transpose(input, 0, 1), 1)
    new_mean = running_mean * (1.0 - momentum) + mean * momentum
    new_var = running_var * (1.0 - momentum) + torch.var(channels, [1], True) * momentum
  else:
    new_mean = running_mean
    new_var = running_var
    result = torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)
    mean = torch.zeros([0])
    inverse = torch.zeros([0])
  return result, mean, inverse, new_mean, new_var
)";

constexpr const char* kPrelu = R"(
def _prelu_kernel(self: Tensor, weight: Tensor) -> Tensor:
  return torch.where(torch.gt(self, 0), self, weight * self)
)";

constexpr const char* kMatrixProduct = R"(
def mm(self: Tensor, mat2: Tensor, out_dtype: int) -> Tensor:
  return torch.mm(self.to(out_dtype), mat2.to(out_dtype))
)";

constexpr const char* kBatchProduct = R"(
def bmm(self: Tensor, mat2: Tensor, out_dtype: int) -> Tensor:
  return torch.bmm(self.to(out_dtype), mat2.to(out_dtype))
)";

constexpr const char* kSumOfProduct = R"(
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, out_dtype: int, beta: number, alpha: number) -> Tensor:
  return torch.addmm(self.to(out_dtype), mat1.to(out_dtype), mat2.to(out_dtype), beta=beta, alpha=alpha)
)";

constexpr const char* kSumOfBatchProduct = R"(
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, out_dtype: int, beta: number, alpha: number) -> Tensor:
  return torch.baddbmm(self.to(out_dtype), batch1.to(out_dtype), batch2.to(out_dtype), beta=beta, alpha=alpha)
)";

constexpr const char* kIntegerProduct = R"(
def _int_mm(self: Tensor, mat2: Tensor) -> Tensor:
  return torch.mm(self.to(3), mat2.to(3))
)";

}  // namespace

ScriptForms attention_and_norm_scripts() {
  return {
      {"aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
       "dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
       "2.0", kAttention},
      {"aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "2.5", kSafeSoftmax},
      {"aten::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", "2.4",
       kRmsNorm},
      {"aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
       "", kFusedRmsNorm},
      {"aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
       "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       "2.0", kBatchNorm},
      {"aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
       "momentum, float eps) -> (Tensor, Tensor, Tensor)",
       "2.0", kBatchNormOfBatch},
      {"aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
       "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       "2.1", kBatchNormOfStatistics},
      {"aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
       "Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
       "2.0", kBatchNormFunctional},
      {"aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
       "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
       "", kBatchNormWithUpdate},
      {"aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
       "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
       "", kBatchNormNoUpdate},
      {"aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", "2.0", kPrelu},
      {"aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "2.8", kMatrixProduct},
      {"aten::bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "2.8", kBatchProduct},
      {"aten::addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
       "alpha=1) "
       "-> Tensor",
       "2.8", kSumOfProduct},
      {"aten::baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
       "alpha=1) -> Tensor",
       "2.8", kSumOfBatchProduct},
      {"aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", "2.1", kIntegerProduct},
  };
}

}  // namespace nnapi_convert
