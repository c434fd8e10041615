// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/quantised_weights.h"

#include <ATen/ATen.h>

namespace nnapi_convert {
namespace {

constexpr int64_t kShift = 128;  // int8 + kShift = uint8

// Reshapes one number for each channel for computing with a tensor of `rank` axes.
at::Tensor along(const at::Tensor& numbers, const Rounding& rounding, int64_t rank) {
  if (!rounding.axis) return numbers.reshape({});
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(*rounding.axis)] = -1;
  return numbers.reshape(sizes);
}

at::Tensor numbers_of(const at::Tensor& integers, const Rounding& rounding) {
  const at::Tensor zero_points = along(rounding.zero_points, rounding, integers.dim());
  const at::Tensor scales = along(rounding.scales, rounding, integers.dim()).to(at::kFloat);
  return (integers.to(at::kDouble) - zero_points).to(at::kFloat) * scales;
}

}  // namespace

bool fits(const Rounding& rounding, const at::Tensor& tensor) {
  const bool has_axis = rounding.axis && *rounding.axis >= 0 && *rounding.axis < tensor.dim();
  if (rounding.axis && !has_axis) return false;
  const int64_t count = has_axis ? tensor.size(*rounding.axis) : 1;
  return rounding.scales.numel() == count && rounding.zero_points.numel() == count &&
         at::isfinite(rounding.scales).all().item<bool>() && (rounding.scales > 0).all().item<bool>();
}

at::Tensor rounded(const at::Tensor& numbers, const Rounding& rounding) {
  const at::Tensor inverse = (1.0 / along(rounding.scales, rounding, numbers.dim())).to(at::kFloat);
  const at::Tensor zero_points = along(rounding.zero_points, rounding, numbers.dim());
  return at::clamp(at::round(numbers.to(at::kFloat) * inverse) + zero_points, rounding.min, rounding.max)
      .to(rounding.dtype);
}

at::Tensor weight_of(const at::Tensor& integers, const Rounding& rounding) {
  const bool is_symmetric = (rounding.zero_points == 0).all().item<bool>();
  const bool is_bytes = integers.scalar_type() == at::kChar || integers.scalar_type() == at::kByte;
  const bool is_shifted = integers.scalar_type() == at::kByte;
  if (!is_bytes || (rounding.axis && (!is_symmetric || is_shifted))) return numbers_of(integers, rounding);
  if (rounding.axis) {
    return at::_make_per_channel_quantized_tensor(integers.contiguous(), rounding.scales, rounding.zero_points,
                                                  *rounding.axis);
  }
  const int64_t shift = is_shifted ? kShift : 0, zero_point = rounding.zero_points.item<int64_t>() - shift;
  if (zero_point < -kShift || zero_point >= kShift) return numbers_of(integers, rounding);
  const at::Tensor bytes = is_shifted ? (integers.to(at::kShort) - shift).to(at::kChar) : integers.contiguous();
  return at::_make_per_tensor_quantized_tensor(bytes, rounding.scales.item<double>(), zero_point);
}

at::Tensor weight_of_groups(const at::Tensor& integers, const Rounding& rounding, int64_t size) {
  const at::Tensor groups = integers.reshape({-1, size}).to(at::kDouble) - rounding.zero_points.reshape({-1, 1});
  return (groups.to(at::kFloat) * rounding.scales.reshape({-1, 1}).to(at::kFloat)).reshape(integers.sizes());
}

at::Tensor as_quint8(const at::Tensor& quantised) {
  const at::Tensor bytes = (quantised.int_repr().to(at::kShort) + kShift).to(at::kByte);
  return at::_make_per_tensor_quantized_tensor(bytes, quantised.q_scale(), quantised.q_zero_point() + kShift);
}

}  // namespace nnapi_convert
