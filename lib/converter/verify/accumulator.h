// SPDX-License-Identifier: BSD-3-Clause
// Compares the original's and the converted model's results of one output, over all samples.
#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lib/base/class_axis.h"
#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

// Returns the numbers that a tensor stands for, as doubles.
inline at::Tensor real_values(const at::Tensor& tensor) {
  if (tensor.is_complex()) return at::view_as_real(tensor.resolve_conj()).to(at::kDouble);
  return (tensor.is_quantized() ? tensor.dequantize() : tensor).to(at::kDouble);
}

// Returns the relative distance of neighbouring numbers in float16 or bfloat16; 0 for other dtypes.
inline double step_of(at::ScalarType dtype) {
  if (dtype == at::kHalf) return std::numeric_limits<c10::Half>::epsilon();
  return dtype == at::kBFloat16 ? static_cast<double>(std::numeric_limits<c10::BFloat16>::epsilon()) : 0;
}

// Sums over the samples of one output.
class Accumulator {
 public:
  void add(const at::Tensor& original, const at::Tensor& converted) {
    if (shape_.empty()) {
      shape_ = fmt::format("[{}]", fmt::join(original.sizes(), ", "));
      dtype_ = dtype_name(converted.scalar_type());
      step_ = step_of(converted.scalar_type());
      first_ = finite_or_zero(real_values(original));
    }
    ++samples_;
    if (original.numel() == 0) return;  // nothing was detected, for example
    const at::Tensor expected = real_values(original);
    const at::Tensor found = real_values(converted);
    count(expected, found);
    difference_ = std::max(difference_, difference(finite_or_zero(expected)));
    const at::Tensor compared = expected.isfinite().logical_or(same_values(expected, found).logical_not());
    add_errors(expected.masked_select(compared), found.masked_select(compared));
    is_integral_ = at::isIntegralType(original.scalar_type(), true);
    const int64_t axis =
        expected.dim() == 0 ? 0 : static_cast<int64_t>(class_axis(static_cast<size_t>(expected.dim())));
    const at::Tensor same = is_integral_ ? expected.eq(found) : expected.argmax(axis).eq(found.argmax(axis));
    agreed_ += same.sum().item().toDouble();
    rows_ += static_cast<double>(same.numel());
  }

  OutputComparison result(const Quantization& quantization) const {
    OutputComparison comparison;
    comparison.shape = shape_;
    comparison.dtype = dtype_;
    comparison.range = highest_ > lowest_ ? highest_ - lowest_ : 0;
    comparison.is_constant = !(comparison.range > 0);
    comparison.ignores_input = samples_ > 1 && difference_ < VerifyDefaults::kVaryingShare * comparison.range;
    comparison.max_error = max_error_;
    const double scale =
        comparison.is_constant ? std::max(std::isfinite(highest_) ? std::abs(highest_) : 0, 1.0) : comparison.range;
    comparison.relative_error = max_error_ / scale;
    const bool has_values = lowest_ <= highest_;  // finite values
    comparison.rounding = has_values ? step_ * std::max(std::abs(lowest_), std::abs(highest_)) / scale : 0;
    comparison.snr_db = noise_ > 0 ? 10 * std::log10(signal_ / noise_) : std::numeric_limits<double>::infinity();
    comparison.top1 = rows_ > 0 ? agreed_ / rows_ : 1;
    comparison.is_integral = is_integral_;
    if (quantization.scale > 0) comparison.quanta = max_error_ / quantization.scale;
    comparison.histogram = histogram_;
    return comparison;
  }

 private:
  static at::Tensor finite_or_zero(const at::Tensor& values) {
    return values.masked_fill(values.isfinite().logical_not(), 0);
  }

  // True where the values are the same. Infinite values and NaN may be, too: masked scores, or the logarithm of 0.
  static at::Tensor same_values(const at::Tensor& expected, const at::Tensor& found) {
    return expected.eq(found).logical_or(expected.isnan().logical_and(found.isnan()));
  }

  // Adds the errors of values that are finite or differ.
  void add_errors(const at::Tensor& expected, const at::Tensor& found) {
    if (expected.numel() == 0) return;
    const at::Tensor error = (found - expected).abs();
    const double largest = error.max().item().toDouble();
    max_error_ = std::isnan(largest) ? std::numeric_limits<double>::infinity() : std::max(max_error_, largest);
    const at::Tensor finite = expected.masked_select(expected.isfinite());
    if (finite.numel() > 0) {
      lowest_ = std::min(lowest_, finite.min().item().toDouble());
      highest_ = std::max(highest_, finite.max().item().toDouble());
    }
    signal_ += expected.square().sum().item().toDouble();
    const double noise = error.square().sum().item().toDouble();
    noise_ += std::isnan(noise) ? std::numeric_limits<double>::infinity() : noise;
  }

  void count(const at::Tensor& expected, const at::Tensor& found) {
    const auto finite = [](const at::Tensor& values) { return values.masked_select(values.isfinite()); };
    const at::Tensor original = finite(expected), converted = finite(found);
    if (histogram_.original.empty()) {
      const at::Tensor all = at::cat({original, converted});
      if (all.numel() == 0) return;
      histogram_.lowest = all.min().item().toDouble();
      histogram_.highest = all.max().item().toDouble();
      histogram_.original.resize(Histogram::kBins);
      histogram_.converted.resize(Histogram::kBins);
    }
    count(original, histogram_.original);
    count(converted, histogram_.converted);
  }

  void count(const at::Tensor& values, std::vector<uint64_t>& bins) const {
    const double width = (histogram_.highest - histogram_.lowest) / Histogram::kBins;
    const at::Tensor numbers = width > 0 ? ((values - histogram_.lowest) / width).floor().clamp(0, Histogram::kBins - 1)
                                         : at::zeros_like(values);
    const at::Tensor counts = at::bincount(numbers.to(at::kLong), {}, Histogram::kBins);
    for (size_t i = 0; i < bins.size(); ++i) {
      bins[i] += static_cast<uint64_t>(counts[static_cast<int64_t>(i)].item().toLong());
    }
  }

  // Returns the largest difference from the first sample's result; results of another size differ without limit.
  double difference(const at::Tensor& expected) const {
    if (expected.sizes() != first_.sizes()) return std::numeric_limits<double>::infinity();
    return (expected - first_).abs().max().item().toDouble();
  }

  std::string shape_, dtype_;
  Histogram histogram_;
  at::Tensor first_;
  int samples_ = 0;
  bool is_integral_ = false;
  double step_ = 0;
  double difference_ = 0;  // largest difference between the first sample's result and another's
  double max_error_ = 0, signal_ = 0, noise_ = 0, agreed_ = 0, rows_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity();
  double highest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace nnapi_convert
