#include "lib/ops/quantized_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert {
namespace {

// Weights with one scale for the whole tensor.
struct PerTensor {
  nnapi::Constant weight;
  double scale;
  int64_t zero_point;
};

PerTensor requantized_per_tensor(OpContext& ctx, const at::Tensor& weight) {
  const at::Tensor zero_points = weight.q_per_channel_zero_points();
  ctx.require(zero_points.eq(0).all().item().toBool(), "per-channel weights with zero points other than 0",
              "zero points of 0");
  const at::Tensor scales = weight.q_per_channel_scales().to(at::kFloat).contiguous();
  const at::Tensor real = weight.dequantize();
  const float scale = std::max(real.abs().max().item().toFloat() / 127, std::numeric_limits<float>::min());
  auto from =
      std::make_shared<const std::vector<float>>(scales.data_ptr<float>(), scales.data_ptr<float>() + scales.numel());
  const at::Tensor rounded = (real / scale).round() * scale;
  ctx.warn(
      fmt::format("per-channel weights requantised to one scale per tensor: the largest weight error is {:.3g}, {:.2g} "
                  "% of the largest weight",
                  (rounded - real).abs().max().item().toFloat(),
                  100 * (rounded - real).abs().max().item().toFloat() / real.abs().max().item().toFloat()));
  return {to_constant(weight).then(nnapi::Requantize{weight.q_per_channel_axis(), from, scale}), scale, 0};
}

PerTensor per_tensor(OpContext& ctx, const at::Tensor& weight) {
  ctx.require(weight.scalar_type() == at::kQInt8, "weights of dtype " + dtype_name(weight.scalar_type()), "qint8");
  if (weight.qscheme() == at::kPerTensorAffine) return {to_constant(weight), weight.q_scale(), weight.q_zero_point()};
  ctx.require(weight.qscheme() == at::kPerChannelAffine, "weights quantised by another scheme",
              "per-tensor or per-channel affine");
  return requantized_per_tensor(ctx, weight);
}

}  // namespace

QuantizedWeights quantized_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                   int64_t output_channels, const TensorType& input) {
  const PerTensor weights = per_tensor(ctx, weight);
  const auto weight_scale = static_cast<float>(weights.scale);
  const double bias_scale = static_cast<double>(static_cast<float>(input.quantization.scale)) * weight_scale;
  const nnapi::Constant real_bias =
      bias && bias->defined() ? to_constant(bias->detach().to(at::kFloat))
                              : nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(output_channels)));
  return {weights.weight.then(nnapi::ShiftToUInt8{}), weight_scale, static_cast<int32_t>(weights.zero_point + 128),
          real_bias.then(nnapi::QuantizeBias{bias_scale}), static_cast<float>(bias_scale)};
}

}  // namespace nnapi_convert
