// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/histogram.h"

#include <algorithm>
#include <cmath>

namespace nnapi_convert::quantise {
namespace {

int64_t floor_half(int64_t value) {
  return value >= 0 ? value / 2 : -((1 - value) / 2);
}

}  // namespace

void Histogram::widen() {
  const int64_t first = floor_half(first_);
  std::vector<uint64_t> merged(kBins, 0);
  for (int64_t i = 0; i < kBins; ++i)
    merged[static_cast<size_t>(floor_half(first_ + i) - first)] += bins_[static_cast<size_t>(i)];
  bins_ = std::move(merged);
  first_ = first;
  width_ *= 2;
}

// Makes room for values from `lowest` to `highest`.
void Histogram::cover(double lowest, double highest) {
  if (bins_.empty()) {
    // Ranges reach to 0: far narrower bins would be too many for the memory.
    const double needed = std::max(std::max(highest, 0.0) - std::min(lowest, 0.0), 1e-30) / (kBins - 2);
    width_ = std::exp2(std::ceil(std::log2(needed)));
    first_ = static_cast<int64_t>(std::floor(lowest / width_));
    bins_.assign(kBins, 0);
  }
  // Widens the bins until they cover old and new values. The first bins may be so narrow, such as those of a tensor
  // that was 0 so far, that an integer can't hold the number of bins up to a usual value.
  const double least = finite_ > 0 ? std::min(lowest, static_cast<double>(lowest_)) : lowest;
  const double most = finite_ > 0 ? std::max(highest, static_cast<double>(highest_)) : highest;
  while (std::floor(most / width_) - std::floor(least / width_) >= static_cast<double>(kBins)) widen();
  const auto used_low = static_cast<int64_t>(std::floor(least / width_));
  const auto used_high = static_cast<int64_t>(std::floor(most / width_));
  if (used_low >= first_ && used_high < first_ + kBins) return;
  std::vector<uint64_t> moved(kBins, 0);
  for (int64_t i = 0; i < kBins; ++i) {
    const int64_t to = first_ + i - used_low;
    if (to >= 0 && to < kBins) moved[static_cast<size_t>(to)] = bins_[static_cast<size_t>(i)];
  }
  bins_ = std::move(moved);
  first_ = used_low;
}

void Histogram::add(const float* values, size_t count) {
  float lowest = std::numeric_limits<float>::infinity(), highest = -lowest;
  uint64_t finite = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) continue;
    ++finite;
    lowest = std::min(lowest, values[i]);
    highest = std::max(highest, values[i]);
  }
  not_finite_ += count - finite;
  if (finite == 0) return;
  cover(static_cast<double>(lowest), static_cast<double>(highest));
  const double scale = 1 / width_;
  const auto offset = static_cast<double>(-first_);
  for (size_t i = 0; i < count; ++i) {
    if (finite != count && !std::isfinite(values[i])) continue;
    // The number is not negative, so that rounding towards zero rounds down.
    ++bins_[static_cast<size_t>(static_cast<double>(values[i]) * scale + offset)];
  }
  finite_ += finite;
  lowest_ = std::min(lowest_, lowest);
  highest_ = std::max(highest_, highest);
}

void Histogram::add(const Histogram& other) {
  not_finite_ += other.not_finite_;
  if (other.empty()) return;
  Histogram finer = other;
  if (bins_.empty()) {
    bins_.assign(kBins, 0);
    width_ = other.width_;
    first_ = other.first_;
  }
  while (width_ < finer.width_) widen();
  while (finer.width_ < width_) finer.widen();
  cover(static_cast<double>(other.lowest_), static_cast<double>(other.highest_));
  while (finer.width_ < width_) finer.widen();
  for (int64_t i = 0; i < kBins; ++i) {
    const uint64_t hits = finer.bins_[static_cast<size_t>(i)];
    if (hits > 0) bins_[static_cast<size_t>(finer.first_ + i - first_)] += hits;
  }
  finite_ += other.finite_;
  lowest_ = std::min(lowest_, other.lowest_);
  highest_ = std::max(highest_, other.highest_);
}

}  // namespace nnapi_convert::quantise
