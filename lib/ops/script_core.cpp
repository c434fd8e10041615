// SPDX-License-Identifier: BSD-3-Clause
// Operators that run_decompositions() leaves in an exported program, or that functions of PyTorch call, and that models
// seldom call themselves. Each is written as the operator of PyTorch 1.13.1 that models call.
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

constexpr const char* kSoftmax = R"(
def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
  return torch.softmax(self, dim)
)";

constexpr const char* kLogSoftmax = R"(
def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
  return torch.log_softmax(self, dim)
)";

constexpr const char* kAdaptiveVolume = R"(
def _adaptive_avg_pool3d(self: Tensor, output_size: List[int]) -> Tensor:
  return torch.adaptive_avg_pool3d(self, output_size)
)";

// The operator that scaled_dot_product_attention becomes for tensors on the CPU. The second result, the logarithm of
// the sums, is used by no other programs.
constexpr const char* kFlashAttention = R"(
def _scaled_dot_product_flash_attention_for_cpu(query: Tensor, key: Tensor, value: Tensor, dropout_p: float,
                                                is_causal: bool, attn_mask: Optional[Tensor],
                                                scale: Optional[float]) -> Tuple[Tensor, Tensor]:
  output = torch.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
  if scale is None:
    factor = float(query.size(-1)) ** -0.5
  else:
    factor = scale
  scores = torch.matmul(query * factor, torch.transpose(key, -2, -1))
  if is_causal:
    later = torch.full([query.size(-2), key.size(-2)], float("-inf"), dtype=scores.dtype, device=scores.device)
    scores = scores + torch.triu(later, 1)
  if attn_mask is not None:
    if attn_mask.dtype == 11:
      scores = torch.masked_fill(scores, torch.logical_not(attn_mask), float("-inf"))
    else:
      scores = scores + attn_mask
  return (output, torch.logsumexp(scores, [-1]))
)";

// `normalization` 0 leaves sums as they are, 1 divides them by the size's root, 2 by the size.
constexpr const char* kFourierOfReal = R"(
def _fft_r2c(self: Tensor, dim: List[int], normalization: int, onesided: bool) -> Tensor:
  norm = "backward" if normalization == 0 else "ortho" if normalization == 1 else "forward"
  if onesided:
    return torch.fft_rfftn(self, None, dim, norm)
  return torch.fft_fftn(self, None, dim, norm)
)";

constexpr const char* kFourierToReal = R"(
def _fft_c2r(self: Tensor, dim: List[int], normalization: int, last_dim_size: int) -> Tensor:
  norm = "forward" if normalization == 0 else "ortho" if normalization == 1 else "backward"
  if len(dim) == 1:
    return torch.fft_irfft(self, last_dim_size, dim[0], norm)
  return torch.fft_irfft(torch.fft_ifftn(self, None, dim[:-1], norm), last_dim_size, dim[-1], norm)
)";

constexpr const char* kFourierOfComplex = R"(
def _fft_c2c(self: Tensor, dim: List[int], normalization: int, forward: bool) -> Tensor:
  if forward:
    forward_norm = "backward" if normalization == 0 else "ortho" if normalization == 1 else "forward"
    return torch.fft_fftn(self, None, dim, forward_norm)
  norm = "forward" if normalization == 0 else "ortho" if normalization == 1 else "backward"
  return torch.fft_ifftn(self, None, dim, norm)
)";

constexpr const char* kNarrowCopy = R"(
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
  return torch.narrow(self, dim, start, length).clone()
)";

constexpr const char* kConvolution = R"(
def convolution(input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: List[int], padding: List[int],
                dilation: List[int], transposed: bool, output_padding: List[int], groups: int) -> Tensor:
  return torch._convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, False,
                            False, True, True)
)";

}  // namespace

ScriptForms core_scripts() {
  return {
      {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", kOldRelease, kSoftmax},
      {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", kOldRelease, kLogSoftmax},
      {"aten::_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor", kOldRelease, kAdaptiveVolume},
      {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
       "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
       "2.1", kFlashAttention},
      {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", kOldRelease,
       kFourierOfReal},
      {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor", kOldRelease,
       kFourierToReal},
      {"aten::_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor", kOldRelease,
       kFourierOfComplex},
      {"aten::narrow_copy(Tensor self, int dim, int start, int length) -> Tensor", kOldRelease, kNarrowCopy},
      {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool "
       "transposed, int[] output_padding, int groups) -> Tensor",
       kOldRelease, kConvolution},
  };
}

}  // namespace nnapi_convert
