// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/quantized_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lib/base/counted.h"
#include "lib/nnapi/api_level.h"

namespace nnapi_convert {
namespace {

// Weights with one scale for the whole tensor.
struct PerTensor {
  nnapi::Constant weight;
  double scale;
  int64_t zero_point;
};

// The greatest absolute value of a quantised bias. It leaves the rest of NNAPI's int32 sum for the products.
constexpr double kLargestBias = 1 << 30;

double largest_of(const at::Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : tensor.abs().max().item().toDouble();
}

// Refuses per-channel weights with zero points other than 0.
void require_zero_points(OpContext& ctx, const at::Tensor& weight) {
  ctx.require(weight.qscheme() == at::kPerChannelAffine, "weights quantised by another scheme",
              "per-tensor or per-channel affine");
  ctx.require(weight.q_per_channel_zero_points().eq(0).all().item().toBool(),
              "per-channel weights with zero points other than 0", "zero points of 0");
}

PerTensor requantized(const at::Tensor& weight, int64_t axis, const at::Tensor& scales, float scale) {
  const at::Tensor from = scales.to(at::kFloat).contiguous();
  const auto values =
      std::make_shared<const std::vector<float>>(from.data_ptr<float>(), from.data_ptr<float>() + from.numel());
  return {to_constant(weight).then(nnapi::Requantize{axis, values, scale}), scale, 0};
}

PerTensor requantized_per_tensor(OpContext& ctx, const at::Tensor& weight, double least_scale) {
  require_zero_points(ctx, weight);
  const at::Tensor real = weight.dequantize();
  const double largest = largest_of(real);
  const auto scale = static_cast<float>(std::max(largest / 127, least_scale));
  const double error = largest_of((real / scale).round() * scale - real);
  const double share = largest > 0 ? error / largest : 0;
  ctx.warn("per-channel weights requantised to one scale per tensor",
           fmt::format("the largest weight error is {:.3g}, {:.2g} % of the largest weight", error, 100 * share),
           share);
  return requantized(weight, weight.q_per_channel_axis(), weight.q_per_channel_scales(), scale);
}

// Returns the weights with one scale, at least `least_scale`, at which the bias fits into int32. Weights with a smaller
// scale lose digits that don't matter beside such a bias.
PerTensor per_tensor(OpContext& ctx, const at::Tensor& weight, double least_scale) {
  ctx.require(weight.scalar_type() == at::kQInt8, "weights of dtype " + dtype_name(weight.scalar_type()), "qint8");
  if (weight.qscheme() != at::kPerTensorAffine) return requantized_per_tensor(ctx, weight, least_scale);
  const double scale = weight.q_scale();
  if (scale >= least_scale) return {to_constant(weight), scale, weight.q_zero_point()};
  ctx.require(weight.q_zero_point() == 0,
              fmt::format("a bias {:.3g} times what fits into int32 at this scale of input and weights, and weights "
                          "with a zero point of {}",
                          least_scale / scale, weight.q_zero_point()),
              "a zero point of 0", "quantise with larger scales of the input or the weights");
  return requantized(weight, 0, at::full({weight.size(0)}, scale), static_cast<float>(least_scale));
}

// Returns weights with a scale for each channel. The bias is in steps of input scale times the channel's scale; NNAPI
// takes it without a scale of its own.
QuantizedWeights channel_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                 int64_t output_channels, const TensorType& input) {
  require_zero_points(ctx, weight);
  const auto input_scale = static_cast<double>(static_cast<float>(input.quantization.scale));
  const int64_t axis = weight.q_per_channel_axis();
  const at::Tensor given = weight.q_per_channel_scales().to(at::kDouble);
  const at::Tensor real_bias =
      bias && bias->defined() ? bias->detach().to(at::kDouble) : at::zeros({output_channels}, at::kDouble);
  // Dead channels have weights near zero: a larger scale, with which the bias fits, loses nothing beside the bias.
  const double smallest = std::numeric_limits<float>::min() / input_scale;
  const at::Tensor least = (real_bias.abs() / input_scale / kLargestBias).clamp_min(smallest);
  const at::Tensor scales = at::max(given, least).to(at::kFloat);
  std::vector<int64_t> along(static_cast<size_t>(weight.dim()), 1);
  along[static_cast<size_t>(axis)] = scales.numel();
  const at::Tensor ratio = (given / at::max(given, least)).view(along);
  const at::Tensor codes = (weight.int_repr().to(at::kDouble) * ratio).round().to(at::kChar);
  auto channels = std::make_shared<nnapi::ChannelScales>();
  channels->axis = static_cast<size_t>(axis);
  channels->scales.assign(scales.data_ptr<float>(), scales.data_ptr<float>() + scales.numel());
  const at::Tensor steps = (real_bias / (scales.to(at::kDouble) * input_scale)).round().to(at::kInt);
  const nnapi::OperandId filter = ctx.builder().channel_tensor(to_constant(codes), std::move(channels));
  const TensorType type{at::kQInt8, to_dims(weight.sizes().vec()), {}};
  return {{filter, type}, ctx.builder().tensor(to_constant(steps)), true};
}

// Warns of a bias beyond int32: NNAPI's weights get a scale at which it fits, but PyTorch's QNNPACK overflows.
void warn_of_overflow(OpContext& ctx, const at::Tensor& weight, const at::Tensor& bias, double input_scale) {
  const int64_t count = channels_beyond_int32(weight, bias, input_scale);
  if (count == 0) return;
  ctx.warn("a bias beyond int32 in steps of its channel, where PyTorch's QNNPACK gives wrong numbers",
           fmt::format("{} of {}; the converted file has the right ones", count,
                       counted(static_cast<size_t>(bias.numel()), "channel")));
}

constexpr int kChannelScalesLevel = 3;

}  // namespace

int64_t channels_beyond_int32(const at::Tensor& weight, const at::Tensor& bias, double input_scale) {
  const at::Tensor scales = weight.qscheme() == at::kPerTensorAffine ? at::full({1}, weight.q_scale(), at::kDouble)
                                                                     : weight.q_per_channel_scales().to(at::kDouble);
  if (scales.numel() != 1 && scales.numel() != bias.numel()) return 0;
  const at::Tensor steps = bias.detach().to(at::kDouble).abs() / (scales * input_scale);
  return steps.gt(static_cast<double>(std::numeric_limits<int32_t>::max())).sum().item().toLong();
}

bool keeps_channels(const OpContext& ctx, const at::Tensor& weight) {
  return ctx.target().channel_scales && ctx.feature_level() >= kChannelScalesLevel &&
         weight.qscheme() == at::kPerChannelAffine;
}

QuantizedWeights quantized_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                   int64_t output_channels, const TensorType& input) {
  const auto input_scale = static_cast<double>(static_cast<float>(input.quantization.scale));
  const bool has_bias = bias && bias->defined();
  if (has_bias) warn_of_overflow(ctx, weight, *bias, input_scale);
  if (keeps_channels(ctx, weight)) return channel_weights(ctx, weight, bias, output_channels, input);
  const double least_scale = has_bias ? largest_of(*bias) / input_scale / kLargestBias : 0;
  const double smallest = std::numeric_limits<float>::min() / input_scale;
  const PerTensor weights = per_tensor(ctx, weight, std::max(least_scale, smallest));
  const auto weight_scale = static_cast<float>(weights.scale);
  const double bias_scale = input_scale * weight_scale;
  const nnapi::Constant real_bias =
      has_bias ? to_constant(bias->detach().to(at::kFloat))
               : nnapi::Constant::of_floats(std::vector<float>(static_cast<size_t>(output_channels)));
  const auto zero_point = static_cast<int32_t>(weights.zero_point + 128);
  const nnapi::OperandId filter =
      ctx.builder().tensor(weights.weight.then(nnapi::ShiftToUInt8{}), weight_scale, zero_point);
  const TensorType type{at::kQUInt8, to_dims(weight.sizes().vec()), {weight_scale, zero_point}};
  const nnapi::OperandId added =
      ctx.builder().tensor(real_bias.then(nnapi::QuantizeBias{bias_scale}), static_cast<float>(bias_scale));
  return {{filter, type}, added, false};
}

namespace {

constexpr int kAnyProductLevel = 3;

// Returns the least number of parts into which weights times the factor must be split to fit int8.
int64_t part_count(int64_t factor) {
  int64_t count = factor;
  while (factor * (127 / count + 1) > 127 || factor * ((127 + count) / count) > 128) ++count;
  return count;
}

// Returns `count` tensors side by side along axis 1 that add up to the weights, with a scale `factor` times smaller.
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
              "an output scale above the product", "use " + option_for_level(3));
  const int64_t count = part_count(factor);
  TensorType type = input.type;
  type.dims[axis] = type.dims[axis] * Dim(count);
  std::vector<nnapi::OperandId> inputs(static_cast<size_t>(count), input.id);
  inputs.push_back(ctx.builder().int32(static_cast<int64_t>(axis)));
  return {{ctx.emit_to(OperationCode::CONCATENATION, inputs, type), type}, side_by_side(weight, factor, count)};
}

}  // namespace nnapi_convert
