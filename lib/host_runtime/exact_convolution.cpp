// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/exact_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/host_runtime/vectorised.h"

namespace nnapi_convert::host {
namespace {

constexpr double kExactFloat = 1 << 24;

// The range of codes minus the zero point.
struct Range {
  double lowest, highest;
};

// Returns the greatest magnitude that a sum over one output channel can reach, in any order of its products: products
// of one sign add up at most.
double greatest_sum(const at::Tensor& filter, int64_t channel_dim, Range input) {
  if (filter.numel() == 0) return 0;
  const at::Tensor rows = filter.transpose(0, channel_dim).reshape({filter.size(channel_dim), -1});
  const at::Tensor positive = rows.clamp_min(0).sum(1, false, at::kDouble);
  const at::Tensor negative = rows.clamp_max(0).sum(1, false, at::kDouble);
  const at::Tensor highest = positive * input.highest + negative * input.lowest;
  const at::Tensor lowest = positive * input.lowest + negative * input.highest;
  return std::max(highest.max().item<double>(), -lowest.min().item<double>());
}

template <typename Code>
NNAPI_HOST_VECTORISED void center(const Code* __restrict codes, int64_t count, float zero, float* __restrict numbers) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(codes[i]) - zero;
}

// The filter's dimension of the input channels, and the number of channels of the input.
struct Summands {
  int64_t filter_dim, channels;
};

at::Tensor piece(const at::Tensor& tensor, int64_t dim, int64_t number, int64_t count) {
  const int64_t begin = tensor.size(dim) * number / count, end = tensor.size(dim) * (number + 1) / count;
  return tensor.narrow(dim, begin, end - begin);
}

// Returns the tensor without gaps in memory, in the same memory format.
at::Tensor dense(const at::Tensor& tensor) {
  return tensor.contiguous(tensor.suggest_memory_format());
}

// Values that stand for a number of pieces: sums in Double, or sums for two halves of each weight.
constexpr int64_t kNoPieces = 0, kHalves = -1;

// Returns the number of pieces into which the input's channels must be split so that the sums over each piece are exact
// in Float; kNoPieces if more than kMostPieces are needed, or if a group of channels has a filter of its own.
int64_t fewest_pieces(const at::Tensor& filter, int64_t channel_dim, const Summands& summands, Range range) {
  constexpr int64_t kMostPieces = 4;
  if (greatest_sum(filter, channel_dim, range) < kExactFloat) return 1;
  if (filter.size(summands.filter_dim) != summands.channels) return kNoPieces;
  for (int64_t count = 2; count <= std::min(kMostPieces, summands.channels); ++count) {
    bool is_exact = true;
    for (int64_t i = 0; i < count; ++i) {
      const at::Tensor part = piece(filter, summands.filter_dim, i, count);
      is_exact = is_exact && greatest_sum(part, channel_dim, range) < kExactFloat;
    }
    if (is_exact) return count;
  }
  return kNoPieces;
}

Range range_of(const Operand& operand) {
  return {static_cast<double>(lowest_code(operand.type) - operand.zero_point),
          static_cast<double>(highest_code(operand.type) - operand.zero_point)};
}

}  // namespace

void check_weighted_quantization(const OpContext& context, const char* weights) {
  const Operand& input = context.operand("input");
  if (!is_quantized_8bit(input.type)) return;
  const Operand& filter = context.operand(weights);
  const Operand& bias = context.operand("bias");
  if (bias.zero_point != 0) context.refuse("bias", "zero point {} found, 0 needed", bias.zero_point);
  if (filter.channels) {
    if (bias.scale != 0) context.refuse("bias", "scale {} found, 0 needed with per-channel scales", bias.scale);
    return;
  }
  const double product = static_cast<double>(input.scale) * filter.scale;
  if (std::abs(bias.scale - product) > 1e-6 * product) {
    context.refuse("bias", "scale {} found, input scale x {} scale = {} needed", bias.scale, weights, product);
  }
  const Operand& output = context.operand("output");
  if (context.feature_level() < 3 && !(output.scale > product)) {
    context.refuse("output", "scale {} found, more than input scale x {} scale = {} needed below feature level 3",
                   output.scale, weights, product);
  }
}

void check_bias_extent(const OpContext& context, int64_t channels) {
  const int64_t found = context.dims("bias")[0];
  if (found != channels) context.refuse("bias", "{} entries found, {} needed", found, channels);
}

void check_channel_dimension(const OpContext& context, uint32_t dim) {
  const Operand& filter = context.operand("filter");
  if (!filter.channels || filter.channels->dim == dim) return;
  context.refuse("filter", "per-channel scales along dimension {} found, {} needed", filter.channels->dim, dim);
}

std::vector<double> multipliers_of(const OpContext& context, const char* weights, int64_t channels) {
  const Operand& filter = context.operand(weights);
  const double ratio = static_cast<double>(context.operand("input").scale) / context.operand("output").scale;
  std::vector<double> multipliers(static_cast<std::size_t>(channels), ratio * filter.scale);
  for (std::size_t i = 0; filter.channels && i < multipliers.size(); ++i) {
    multipliers[i] = ratio * filter.channels->scales[i];
  }
  return multipliers;
}

at::Tensor convolve(const at::Tensor& input, const at::Tensor& filter, const at::Tensor& bias,
                    const ConvolutionSteps& steps) {
  const bool fast = at::globalContext().hasMKLDNN() && at::globalContext().userEnabledMkldnn() &&
                    input.scalar_type() == at::kFloat && input.numel() > 0;
  if (!fast) return at::conv2d(input, filter, bias, steps.stride, steps.padding, steps.dilation, steps.groups);
  return at::mkldnn_convolution(input, filter, bias.defined() ? c10::make_optional(bias) : c10::nullopt, steps.padding,
                                steps.stride, steps.dilation, steps.groups);
}

at::Tensor centered(const at::Tensor& codes, const Operand& operand) {
  if (!codes.is_non_overlapping_and_dense()) return codes.to(at::kFloat).sub_(operand.zero_point);
  const at::Tensor numbers = at::empty_like(codes, at::kFloat);  // in the order that the codes have in memory
  const float zero = static_cast<float>(operand.zero_point);
  if (codes.scalar_type() == at::kByte) {
    center(codes.data_ptr<uint8_t>(), codes.numel(), zero, numbers.data_ptr<float>());
  } else {
    center(codes.data_ptr<int8_t>(), codes.numel(), zero, numbers.data_ptr<float>());
  }
  return numbers;
}

at::Tensor exact_sums(const OpContext& context, const at::Tensor& input, int64_t channel_dim,
                      const std::function<at::Tensor(const at::Tensor&)>& filter,
                      const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& apply) {
  const auto weights = [&] { return filter(centered(context.stored("filter"), context.operand("filter"))); };
  const auto high = [&] { return weights().div_(16).round_(); };
  const auto low = [&] { return weights().sub_(high(), 16); };
  const Range range = range_of(context.operand("input"));
  const Summands summands{1 - channel_dim, input.size(1)};
  const at::Tensor plan = context.cached("filter", "plan", [&] {
    const int64_t found = fewest_pieces(weights(), channel_dim, summands, range);
    if (found != kNoPieces) return at::tensor({found});
    const auto fits = [&](const at::Tensor& half) { return greatest_sum(half, channel_dim, range) < kExactFloat; };
    return at::tensor({fits(high()) && fits(low()) ? kHalves : kNoPieces});
  });
  const int64_t pieces = *plan.data_ptr<int64_t>();
  if (pieces == 1) return apply(input, context.cached("filter", "weights", weights));
  if (pieces > 1) {
    at::Tensor sums;
    for (int64_t i = 0; i < pieces; ++i) {
      const at::Tensor part = context.cached("filter", fmt::format("piece {}", i),
                                             [&] { return dense(piece(weights(), summands.filter_dim, i, pieces)); });
      const at::Tensor sum = apply(dense(piece(input, 1, i, pieces)), part).to(at::kDouble);
      sums = sums.defined() ? sums.add_(sum) : sum;
    }
    return sums;
  }
  if (pieces == kHalves) {
    const at::Tensor sums = apply(input, context.cached("filter", "high", high)).to(at::kDouble).mul_(16);
    return sums.add_(apply(input, context.cached("filter", "low", low)));
  }
  return apply(input.to(at::kDouble), context.cached("filter", "weights", weights).to(at::kDouble));
}

}  // namespace nnapi_convert::host
