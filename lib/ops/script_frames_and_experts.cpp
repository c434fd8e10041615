// SPDX-License-Identifier: BSD-3-Clause
// Short-time Fourier transforms with the argument that PyTorch 2.7 added, and the products of a mixture of experts.
#include "lib/ops/plain_calls.h"
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

constexpr const char* kAligned = "leave out align_to_window, and pad the signal instead";

bool may_be_unaligned(torch::jit::Node& node) {
  const auto aligned = known(&node, "align_to_window");
  return !aligned || !aligned->isBool() || !aligned->toBool();
}

// Every script that calls torch.stft of PyTorch 2.7 or later has the argument align_to_window, which is almost always
// None.
constexpr const char* kFrames = R"(
def stft(self: Tensor, n_fft: int, hop_length: Optional[int], win_length: Optional[int], window: Optional[Tensor],
         normalized: bool, onesided: Optional[bool], return_complex: Optional[bool],
         align_to_window: Optional[bool]) -> Tensor:
  aligned = False
  if align_to_window is not None:
    aligned = align_to_window
  assert not aligned, "stft with align_to_window=True: PyTorch 1.13.1 has no such argument; pad the signal instead"
  return torch.stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)
)";

constexpr const char* kCentredFrames = R"(
def stft(self: Tensor, n_fft: int, hop_length: Optional[int], win_length: Optional[int], window: Optional[Tensor],
         center: bool, pad_mode: str, normalized: bool, onesided: Optional[bool], return_complex: Optional[bool],
         align_to_window: Optional[bool]) -> Tensor:
  aligned = False
  if align_to_window is not None:
    aligned = align_to_window
  assert not aligned, "stft with align_to_window=True: PyTorch 1.13.1 has no such argument; pad the signal instead"
  return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                    return_complex)
)";

// The offsets say where the rows of each expert end. They are computed as the model runs, so that each expert's product
// stays on the CPU; the result's sizes are known.
constexpr const char* kGroupedProduct = R"(
def _grouped_mm(self: Tensor, mat2: Tensor, offs: Optional[Tensor], bias: Optional[Tensor],
                out_dtype: Optional[int]) -> Tensor:
  if offs is None:
    result = torch.bmm(self, mat2)
  else:
    begin = 0
    if self.dim() == 2 and mat2.dim() == 3:
      result = torch.zeros([self.size(0), mat2.size(2)], dtype=self.dtype)
      for i in range(mat2.size(0)):
        end = int(offs[i])
        result[begin:end] = torch.mm(self[begin:end], mat2[i])
        begin = end
    elif self.dim() == 3:
      result = torch.zeros([self.size(1), mat2.size(1)], dtype=self.dtype)
      for i in range(self.size(0)):
        end = int(offs[i])
        result[:, begin:end] = torch.mm(self[i], mat2[:, begin:end])
        begin = end
    else:
      result = torch.zeros([offs.size(0), self.size(0), mat2.size(1)], dtype=self.dtype)
      for i in range(offs.size(0)):
        end = int(offs[i])
        result[i] = torch.mm(self[:, begin:end], mat2[begin:end])
        begin = end
  if out_dtype is not None:
    result = result.to(out_dtype)
  if bias is not None:
    result = result + bias
  return result
)";

}  // namespace

ScriptForms frame_and_expert_scripts() {
  return {
      {"aten::stft.align_to_window(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
       "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
       "align_to_window=None) -> Tensor",
       "2.7", kFrames, kAligned, may_be_unaligned},
      {"aten::stft.center_align_to_window(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
       "window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
       "return_complex=None, bool? align_to_window=None) -> Tensor",
       "2.7", kCentredFrames, kAligned, may_be_unaligned},
      {"aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) "
       "-> Tensor",
       "2.8", kGroupedProduct},
  };
}

}  // namespace nnapi_convert
