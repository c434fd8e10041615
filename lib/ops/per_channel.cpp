// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/per_channel.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nnapi_convert {
namespace {

constexpr size_t kMostParts = 4;
constexpr double kWidestPart = 4;     // scales of one part differ at most by this, where it matters: 2 bits
constexpr double kUsualInput = 40;    // quanta, RMS: a bell curve over most of quint8
constexpr double kRounding = 0.2887;  // RMS of an error that is even over one step

struct Channel {
  int64_t index;
  double scale;  // 0 if all weights are 0
};

// Returns the output channels, largest scale first. A channel without weights other than 0 has scale 0.
std::vector<Channel> channels_of(const at::Tensor& weight) {
  const at::Tensor scales = weight.q_per_channel_scales().to(at::kDouble);
  const at::Tensor used = (scales * weight.int_repr().flatten(1).ne(0).any(1)).contiguous();
  std::vector<Channel> channels;
  for (int64_t i = 0; i < used.numel(); ++i) channels.push_back({i, used.data_ptr<double>()[i]});
  std::stable_sort(channels.begin(), channels.end(),
                   [](const Channel& a, const Channel& b) { return a.scale > b.scale; });
  return channels;
}

// Returns the scale at which the weights' rounding errors add up to one quantum of the output.
double tolerable_scale(const at::Tensor& weight, double input_scale, double output_scale) {
  const double terms = static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
  return output_scale / (kRounding * std::sqrt(terms) * kUsualInput * input_scale);
}

// Groups the sorted channels into parts: each is a run of channels, and has the scale of its first.
std::vector<std::vector<Channel>> parted(const std::vector<Channel>& channels, double tolerable, double widest) {
  std::vector<std::vector<Channel>> parts;
  for (const Channel& channel : channels) {
    const double largest = std::max(tolerable, widest * channel.scale);
    if (parts.empty() || (channel.scale > 0 && parts.back().front().scale > largest)) parts.emplace_back();
    parts.back().push_back(channel);
  }
  return parts;
}

WeightPart part_of(const at::Tensor& weight, const c10::optional<at::Tensor>& bias, const std::vector<Channel>& part) {
  at::Tensor chosen = at::zeros({weight.size(0)}, at::TensorOptions(at::kBool));
  for (const Channel& channel : part) chosen.data_ptr<bool>()[channel.index] = true;
  std::vector<int64_t> per_row(static_cast<size_t>(weight.dim()), 1);
  per_row[0] = weight.size(0);
  const double scale = part.front().scale;
  const at::Tensor codes = (weight.dequantize().to(at::kDouble) / scale).round() * chosen.reshape(per_row);
  WeightPart result{at::_make_per_tensor_quantized_tensor(codes.to(at::kChar).contiguous(), scale, 0), bias};
  if (bias && bias->defined()) result.bias = bias->detach() * chosen;
  return result;
}

double largest_error(const at::Tensor& weight, const std::vector<WeightPart>& parts) {
  at::Tensor error = weight.dequantize();
  for (const WeightPart& part : parts) error = error - part.weight.dequantize();
  return error.abs().max().item().toDouble();
}

}  // namespace

std::vector<WeightPart> parts_by_scale(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                       const TensorType& input) {
  const std::vector<WeightPart> whole{{weight, bias}};
  if (weight.qscheme() != at::kPerChannelAffine || weight.q_per_channel_axis() != 0) return whole;
  const double tolerable = tolerable_scale(weight, input.quantization.scale, ctx.output_type().quantization.scale);
  const std::vector<Channel> channels = channels_of(weight);
  double widest = kWidestPart;
  auto runs = parted(channels, tolerable, widest);
  while (runs.size() > kMostParts) runs = parted(channels, tolerable, widest *= 2);
  if (runs.size() == 1) return whole;
  std::vector<WeightPart> parts;
  for (const std::vector<Channel>& run : runs) parts.push_back(part_of(weight, bias, run));
  const double error = largest_error(weight, parts);
  const double largest = weight.dequantize().abs().max().item().toDouble();
  ctx.warn("per-channel weights requantised to several scales, with an operation for each",
           fmt::format("{} scales, as these differ by {:.2g} times; the largest weight error is {:.3g}", parts.size(),
                       runs.front().front().scale / runs.back().front().scale, error),
           error / largest);
  return parts;
}

}  // namespace nnapi_convert
