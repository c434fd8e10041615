// SPDX-License-Identifier: BSD-3-Clause
// How often a tensor has which values, over all samples, in one pass: bins double their width where the range grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nnapi_convert::quantise {

// A histogram. Infinite values and NaN are counted apart, in no bin.
class Histogram {
 public:
  static constexpr int64_t kBins = 2048;

  void add(const float* values, size_t count);
  void add(const Histogram& other);

  bool empty() const { return finite_ == 0; }
  float lowest() const { return lowest_; }
  float highest() const { return highest_; }
  uint64_t count() const { return finite_; }
  uint64_t not_finite() const { return not_finite_; }

  // Bin i holds the values from (first_bin() + i) * width() on, below the next.
  double width() const { return width_; }
  int64_t first_bin() const { return first_; }
  const std::vector<uint64_t>& bins() const { return bins_; }
  double centre(size_t bin) const { return (static_cast<double>(first_) + static_cast<double>(bin) + 0.5) * width_; }

 private:
  void cover(double lowest, double highest);
  void widen();

  std::vector<uint64_t> bins_;
  double width_ = 0;  // a power of two
  int64_t first_ = 0;
  uint64_t finite_ = 0, not_finite_ = 0;
  float lowest_ = std::numeric_limits<float>::infinity();
  float highest_ = -std::numeric_limits<float>::infinity();
};

}  // namespace nnapi_convert::quantise
