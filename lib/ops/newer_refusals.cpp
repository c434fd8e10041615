// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

constexpr const char* kLanczos = "interpolate with mode \"bilinear\" or \"bicubic\" instead of \"lanczos\"";
constexpr const char* kOneDnn =
    "quantise the model for qnnpack instead of onednn, so that convolution and addition are operators of their own";
constexpr const char* kRotatedBoxes = "compare rotated boxes in the app";
constexpr const char* kPadding = "pad on the right, or flip the sequences before and after";

}  // namespace

ScriptForms newer_refusals() {
  return {
      {"aten::_upsample_lanczos2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? "
       "scales_w=None) -> Tensor",
       "2.12", nullptr, kLanczos},
      {"aten::_upsample_lanczos2d_aa.vec(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) "
       "-> Tensor",
       "2.12", nullptr, kLanczos},
      {"aten::pad_sequence.padding_side(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
       "padding_side=\"right\") -> Tensor",
       "2.5", nullptr, kPadding},
      {"quantized::conv2d_add(Tensor qx, Tensor qaccum, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
       "packed_weight, float output_scale, int output_zero_point) -> Tensor",
       "2.1", nullptr, kOneDnn},
      {"quantized::conv2d_add_relu(Tensor qx, Tensor qaccum, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
       "packed_weight, float output_scale, int output_zero_point) -> Tensor",
       "2.1", nullptr, kOneDnn},
      {"quantized::linear_leaky_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, "
       "float Y_scale_i, int Y_zero_point_i, float negative_slope) -> Tensor",
       "2.0", nullptr, kOneDnn},
      {"quantized::linear_tanh(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float "
       "Y_scale_i, int Y_zero_point_i) -> Tensor",
       "2.0", nullptr, kOneDnn},
      {"torchvision::box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", "torchvision 0.22", nullptr,
       kRotatedBoxes},
  };
}

}  // namespace nnapi_convert
