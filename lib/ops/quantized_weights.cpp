#include "lib/ops/quantized_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nnapi_convert {
namespace {

// Weights with one scale for the whole tensor.
struct PerTensor {
  nnapi::Constant weight;
  double scale;
  int64_t zero_point;
};

void require_zero_points(OpContext& ctx, const at::Tensor& weight) {
  ctx.require(weight.q_per_channel_zero_points().eq(0).all().item().toBool(),
              "per-channel weights with zero points other than 0", "zero points of 0");
}

PerTensor requantized_per_tensor(OpContext& ctx, const at::Tensor& weight) {
  require_zero_points(ctx, weight);
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

// NNAPI adds the bias as whole numbers of input scale times weight scale.
void require_int32_bias(OpContext& ctx, const at::Tensor& bias, double scale) {
  const double largest = bias.numel() == 0 ? 0 : bias.abs().max().item().toDouble();
  ctx.require(
      largest / scale < std::numeric_limits<int32_t>::max(),
      fmt::format("a bias of {:.6g}, {:.3g} times the product of input and weight scale", largest, largest / scale),
      "less than 2147483647 times, to fit into int32", "quantise with larger scales of the input or the weights");
}

constexpr int kChannelScalesLevel = 3;

bool keeps_channels(const OpContext& ctx, const at::Tensor& weight) {
  return ctx.target().channel_scales && ctx.feature_level() >= kChannelScalesLevel &&
         weight.qscheme() == at::kPerChannelAffine;
}

// The bias in whole numbers of input scale times the channel's scale, as NNAPI takes it without a scale of its own.
QuantizedWeights channel_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                 int64_t output_channels, const TensorType& input) {
  require_zero_points(ctx, weight);
  const at::Tensor scales = weight.q_per_channel_scales().to(at::kFloat).contiguous();
  auto channels = std::make_shared<nnapi::ChannelScales>();
  channels->axis = static_cast<size_t>(weight.q_per_channel_axis());
  channels->scales.assign(scales.data_ptr<float>(), scales.data_ptr<float>() + scales.numel());
  at::Tensor steps = at::zeros({output_channels}, at::kInt);
  if (bias && bias->defined()) {
    const at::Tensor unit = scales.to(at::kDouble) * static_cast<double>(static_cast<float>(input.quantization.scale));
    const at::Tensor exact = bias->detach().to(at::kDouble) / unit;
    require_int32_bias(ctx, exact, 1);
    steps = exact.round().to(at::kInt);
  }
  const nnapi::OperandId filter = ctx.builder().channel_tensor(to_constant(weight), std::move(channels));
  const TensorType type{at::kQInt8, to_dims(weight.sizes().vec())};
  return {{filter, type}, ctx.builder().tensor(to_constant(steps)), true};
}

}  // namespace

QuantizedWeights quantized_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                   int64_t output_channels, const TensorType& input) {
  if (keeps_channels(ctx, weight)) return channel_weights(ctx, weight, bias, output_channels, input);
  const PerTensor weights = per_tensor(ctx, weight);
  const auto weight_scale = static_cast<float>(weights.scale);
  const double bias_scale = static_cast<double>(static_cast<float>(input.quantization.scale)) * weight_scale;
  if (bias && bias->defined()) require_int32_bias(ctx, *bias, bias_scale);
  const nnapi::Constant real_bias =
      bias && bias->defined() ? to_constant(bias->detach().to(at::kFloat))
                              : nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(output_channels)));
  const auto zero_point = static_cast<int32_t>(weights.zero_point + 128);
  const nnapi::OperandId filter =
      ctx.builder().tensor(weights.weight.then(nnapi::ShiftToUInt8{}), weight_scale, zero_point);
  const TensorType type{at::kQUInt8, to_dims(weight.sizes().vec()), {weight_scale, zero_point}};
  return {{filter, type},
          ctx.builder().tensor(real_bias.then(nnapi::QuantizeBias{bias_scale}), static_cast<float>(bias_scale)),
          false};
}

namespace {

constexpr int kAnyProductLevel = 3;

// The least number of parts whose values, times the factor, are int8.
int64_t part_count(int64_t factor) {
  int64_t count = factor;
  while (factor * (127 / count + 1) > 127 || factor * ((127 + count) / count) > 128) ++count;
  return count;
}

// `count` tensors side by side along axis 1 that add up to the weights, with a scale `factor` times smaller.
at::Tensor side_by_side(const at::Tensor& weight, int64_t factor, int64_t count) {
  const at::Tensor values = weight.int_repr().to(at::kLong);
  const at::Tensor least = at::div(values, count, "floor");
  const at::Tensor rest = values - least * count;
  std::vector<at::Tensor> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back((least + rest.gt(i)) * factor);
  return at::_make_per_tensor_quantized_tensor(at::cat(parts, 1).to(at::kChar),
                                               weight.q_scale() / static_cast<double>(factor), 0);
}

}  // namespace

QuantizedFactors with_small_product(OpContext& ctx, const LoweredTensor& input, const at::Tensor& weight, size_t axis,
                                    double output_scale) {
  if (ctx.feature_level() >= kAnyProductLevel || weight.qscheme() != at::kPerTensorAffine) return {input, weight};
  const double product = input.type.quantization.scale * weight.q_scale();
  if (static_cast<float>(output_scale) > static_cast<float>(product)) return {input, weight};
  const auto factor = std::max<int64_t>(2, static_cast<int64_t>(product / output_scale) + 1);
  constexpr int64_t kLargestFactor = 32;
  ctx.require(factor <= kLargestFactor && weight.q_zero_point() == 0,
              fmt::format("an output scale of {:.6g} for a product of scales of {:.6g}", output_scale, product),
              "an output scale above the product", "use --feature-level 3");
  const int64_t count = part_count(factor);
  TensorType type = input.type;
  type.dims[axis] = type.dims[axis] * Dim(count);
  std::vector<nnapi::OperandId> inputs(static_cast<size_t>(count), input.id);
  inputs.push_back(ctx.builder().int32(static_cast<int64_t>(axis)));
  return {{ctx.emit_to(OperationCode::CONCATENATION, inputs, type), type}, side_by_side(weight, factor, count)};
}

}  // namespace nnapi_convert
