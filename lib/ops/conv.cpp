// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float32.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/convolution.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/frames.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

size_t spatial_axes(const OpArguments& args) {
  return args.tensor("weight").rank() - 2;
}

std::vector<ValueType> conv_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  require_float(args, args.tensor("weight"));
  if (!args.is_none("bias")) require_float(args, args.tensor("bias"));
  if (spatial_axes(args) == kVolumeAxes) return {volume_convolution_type(args)};
  const Convolution conv = read_convolution(args, args.tensor("weight").dims);
  return {input.with_dims(convolution_dims(args, conv, input, spatial_axes(args)))};
}

Factor bias_of(OpContext& ctx, const Convolution& conv) {
  if (ctx.is_none("bias")) return Factor(ctx, at::zeros({conv.output_channels()}));
  return Factor(ctx, "bias");
}

void lower_conv(OpContext& ctx) {
  const size_t spatial = spatial_axes(ctx);
  if (spatial == kVolumeAxes) return lower_volume_convolution(ctx);
  Convolution conv = read_convolution(ctx, ctx.tensor("weight").dims);
  Factor filter(ctx, "weight");
  const Factor bias = bias_of(ctx, conv);
  if (needs_written_zeros(conv)) {
    ctx.require(filter.is_constant(), "a weight computed at run time with dilation, groups or output_padding",
                "a constant weight");
    filter = Factor(ctx, with_written_zeros(conv, filter.constant()));
  }
  for (size_t i = 0; i < 2; ++i) conv.padding_end[i] -= conv.output_padding[i];
  const Dims sizes = to_dims(conv.weight_sizes);
  const auto weights = [&](int64_t count) {
    const std::vector<Factor> filters = filter.reshaped(sizes).split(count);
    const std::vector<Factor> biases = bias.split(count);
    std::vector<ConvolutionWeights> parts;
    for (size_t i = 0; i < filters.size(); ++i) {
      parts.push_back({{filters[i].operand(), filters[i].type()}, biases[i].operand()});
    }
    return parts;
  };
  ctx.set_output(emit_convolution(ctx, conv, ctx.operand("input"), spatial, weights, FuseCode::NONE).id);
}

constexpr const char* kConvNote =
    "float32; weights may be computed at run time; grouped convolutions, dilation and NCHW: feature level 3";
constexpr const char* kVolumeNote =
    "float32; 2-D convolutions of all planes, or of all columns; grouped convolutions, dilation and NCHW: feature "
    "level 3";
constexpr const char* kTransposedNote = "float32; run-time weights: no dilation, few groups, output_padding <= padding";

}  // namespace

OpRules conv_rules() {
  OpRules rules = {
      {"aten::_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
       "bool "
       "transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool "
       "allow_tf32) -> Tensor",
       1, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
       "dilation, bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
       "cudnn_enabled) -> Tensor",
       1, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, "
       "int groups) -> Tensor",
       1, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution)},
      {"aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0], int[1] "
       "dilation=[1], int groups=1) -> Tensor",
       2, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], str padding=\"valid\", "
       "int[1] dilation=[1], int groups=1) -> Tensor",
       2, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "
       "dilation=1, int groups=1) -> Tensor",
       1, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", "
       "int[2] dilation=1, int groups=1) -> Tensor",
       1, kConvNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] "
       "dilation=1, int groups=1) -> Tensor",
       2, kVolumeNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding=\"valid\", "
       "int[3] dilation=1, int groups=1) -> Tensor",
       2, kVolumeNote, conv_type, lower_conv, costing(Macs::kConvolution, Rows::kFiltered) | Memory::kFresh},
      {"aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0], "
       "int[1] output_padding=[0], int groups=1, int[1] dilation=[1]) -> Tensor",
       3, kTransposedNote, conv_type, lower_conv, costing(Macs::kTransposed, Rows::kFiltered)},
      {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
       "padding=0, "
       "int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
       3, kTransposedNote, conv_type, lower_conv, costing(Macs::kTransposed, Rows::kFiltered)},
  };
  const OpRules quantized = quantized_conv_rules();
  rules.insert(rules.end(), quantized.begin(), quantized.end());
  return rules;
}

}  // namespace nnapi_convert
