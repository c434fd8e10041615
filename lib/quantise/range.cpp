// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/range.h"

#include <algorithm>
#include <cmath>

namespace nnapi_convert::quantise {
namespace {

constexpr int kLevels = 256;
constexpr int kShrinks = 48;      // how many ends are tried on each side
constexpr double kShrink = 0.94;  // the factor from one to the next: the nearest is a twentieth

Range whole_range(const Histogram& histogram) {
  return {std::min(0.0, static_cast<double>(histogram.lowest())),
          std::max(0.0, static_cast<double>(histogram.highest()))};
}

// Returns the squared error of the range, over all values: of rounding within it, of clipping outside.
double squared_error(const Histogram& histogram, const Range& range) {
  const double step = (range.highest - range.lowest) / (kLevels - 1);
  const double rounding = step * step / 12;
  double error = 0;
  for (size_t i = 0; i < histogram.bins().size(); ++i) {
    if (histogram.bins()[i] == 0) continue;
    const double value = histogram.centre(i);
    const double outside = std::max({range.lowest - value, value - range.highest, 0.0});
    error += static_cast<double>(histogram.bins()[i]) * (outside * outside + rounding);
  }
  return error;
}

// Returns the histogram's bins within the range; values outside count in the outermost bins.
std::vector<double> clipped(const Histogram& histogram, const Range& range) {
  const auto low = static_cast<int64_t>(std::floor(range.lowest / histogram.width()));
  const auto high = static_cast<int64_t>(std::floor(range.highest / histogram.width()));
  std::vector<double> result(static_cast<size_t>(high - low + 1), 0);
  for (size_t i = 0; i < histogram.bins().size(); ++i) {
    const int64_t bin = histogram.first_bin() + static_cast<int64_t>(i);
    result[static_cast<size_t>(std::clamp(bin, low, high) - low)] += static_cast<double>(histogram.bins()[i]);
  }
  return result;
}

// Returns the divergence of the values from their form in 256 levels of the range.
double divergence(const Histogram& histogram, const Range& range) {
  const std::vector<double> values = clipped(histogram, range);
  std::vector<double> kept(values.size(), 0);
  for (size_t i = 0; i < histogram.bins().size(); ++i) {
    const int64_t bin = histogram.first_bin() + static_cast<int64_t>(i);
    const int64_t at = bin - static_cast<int64_t>(std::floor(range.lowest / histogram.width()));
    if (at >= 0 && at < static_cast<int64_t>(kept.size())) {
      kept[static_cast<size_t>(at)] = static_cast<double>(histogram.bins()[i]);
    }
  }
  const double total = static_cast<double>(histogram.count());
  double divergence = 0;
  const size_t size = values.size();
  for (size_t level = 0; level < kLevels; ++level) {
    const size_t begin = level * size / kLevels, end = (level + 1) * size / kLevels;
    double sum = 0, used = 0;
    for (size_t i = begin; i < end; ++i) {
      sum += kept[i];
      used += values[i] > 0 ? 1 : 0;
    }
    for (size_t i = begin; i < end; ++i) {
      if (values[i] == 0) continue;
      const double share = std::max(sum / used, 1e-3);
      divergence += values[i] / total * std::log(values[i] / share);
    }
  }
  return divergence;
}

// Moves one end of `best` nearer to 0 if that costs less.
template <typename Cost>
void shrink_end(const Histogram& histogram, const Cost& cost, double Range::*end, Range& best, double& least) {
  Range range = best;
  range.*end = whole_range(histogram).*end;
  for (int i = 0; i < kShrinks; ++i, range.*end *= kShrink) {
    const double found = cost(histogram, range);
    if (found >= least) continue;
    least = found;
    best = range;
  }
}

template <typename Cost>
Range best_range(const Histogram& histogram, const Cost& cost) {
  Range best = whole_range(histogram);
  double least = cost(histogram, best);
  for (int round = 0; round < 2; ++round) {
    if (best.highest > 0) shrink_end(histogram, cost, &Range::highest, best, least);
    if (best.lowest < 0) shrink_end(histogram, cost, &Range::lowest, best, least);
  }
  return best;
}

// Returns the range without the given share of the values at each end.
Range without_tails(const Histogram& histogram, double share) {
  const double most = share * static_cast<double>(histogram.count());
  const std::vector<uint64_t>& bins = histogram.bins();
  double below = 0, above = 0;
  size_t low = 0, high = bins.size();
  while (low < high && below + static_cast<double>(bins[low]) <= most) below += static_cast<double>(bins[low++]);
  while (high > low && above + static_cast<double>(bins[high - 1]) <= most) above += static_cast<double>(bins[--high]);
  const double first = static_cast<double>(histogram.first_bin());
  const double lowest = (first + static_cast<double>(low)) * histogram.width();
  const double highest = (first + static_cast<double>(high)) * histogram.width();
  return {std::min(0.0, std::max(lowest, static_cast<double>(histogram.lowest()))),
          std::max(0.0, std::min(highest, static_cast<double>(histogram.highest())))};
}

}  // namespace

const char* name_of(RangeMethod method) {
  switch (method) {
    case RangeMethod::kMinMax:
      return "min-max";
    case RangeMethod::kPercentile99999:
      return "percentile 99.999";
    case RangeMethod::kPercentile9999:
      return "percentile 99.99";
    case RangeMethod::kPercentile999:
      return "percentile 99.9";
    case RangeMethod::kMse:
      return "mse";
    case RangeMethod::kEntropy:
      return "entropy";
  }
  return "";
}

const std::vector<RangeMethod>& all_range_methods() {
  static const std::vector<RangeMethod> methods = {RangeMethod::kMinMax,          RangeMethod::kMse,
                                                   RangeMethod::kPercentile99999, RangeMethod::kPercentile9999,
                                                   RangeMethod::kPercentile999,   RangeMethod::kEntropy};
  return methods;
}

nnapi::Scale Range::scale() const {
  const double width = highest - lowest;
  // Any scale holds a tensor that is 0, or nearly 0, everywhere.
  if (!(width > 1e-30)) return {1.0f / (kLevels - 1), 0};
  const double scale = width / (kLevels - 1);
  return {static_cast<float>(scale), static_cast<int32_t>(std::clamp(std::round(-lowest / scale), 0.0, kLevels - 1.0))};
}

Range range_of(const Histogram& histogram, RangeMethod method) {
  if (histogram.empty()) return {};
  const Range whole = whole_range(histogram);
  if (!(whole.highest - whole.lowest > 1e-30)) return whole;
  switch (method) {
    case RangeMethod::kMinMax:
      return whole;
    case RangeMethod::kPercentile99999:
      return without_tails(histogram, 1e-5);
    case RangeMethod::kPercentile9999:
      return without_tails(histogram, 1e-4);
    case RangeMethod::kPercentile999:
      return without_tails(histogram, 1e-3);
    case RangeMethod::kMse:
      return best_range(histogram, squared_error);
    case RangeMethod::kEntropy:
      return best_range(histogram, divergence);
  }
  return whole;
}

Range range_of(const std::vector<float>& values) {
  Range range;
  for (const float value : values) {
    range.lowest = std::min(range.lowest, static_cast<double>(value));
    range.highest = std::max(range.highest, static_cast<double>(value));
  }
  return range;
}

}  // namespace nnapi_convert::quantise
