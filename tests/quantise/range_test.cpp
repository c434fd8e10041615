// SPDX-License-Identifier: BSD-3-Clause
// Ranges from histograms.
#include "lib/quantise/range.h"

#include <catch2/catch.hpp>
#include <random>

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;

namespace {

// Values of N(0, 1), and one far away.
Histogram with_outlier(float outlier) {
  std::mt19937 random(3);
  std::normal_distribution<float> distribution;
  std::vector<float> values(100'000);
  for (float& value : values) value = distribution(random);
  values.back() = outlier;
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

}  // namespace

TEST_CASE("range: 0 is always in it, and is exact") {
  for (const Range& range : {Range{1, 5}, Range{-7, -2}, Range{-1, 3}, Range{0, 0}}) {
    const Range with_zero{std::min(range.lowest, 0.0), std::max(range.highest, 0.0)};
    const nnapi::Scale scale = with_zero.scale();
    CHECK(scale.scale > 0);
    CHECK(scale.zero_point >= 0);
    CHECK(scale.zero_point <= 255);
  }
  CHECK(range_of(std::vector<float>{3, 4}).lowest == 0);
}

TEST_CASE("range: min-max keeps an outlier, the others cut it") {
  const Histogram histogram = with_outlier(40);
  CHECK(range_of(histogram, RangeMethod::kMinMax).highest == Approx(40));
  CHECK(range_of(histogram, RangeMethod::kMse).highest < 40);
  for (const RangeMethod method : {RangeMethod::kEntropy, RangeMethod::kPercentile9999}) {
    const Range range = range_of(histogram, method);
    INFO(name_of(method));
    CHECK(range.highest < 20);
    CHECK(range.highest > 2.5);
  }
  CHECK(range_of(histogram, RangeMethod::kPercentile999).highest == Approx(3.1).margin(0.3));
}

TEST_CASE("range: an even spread is kept whole") {
  std::vector<float> values;
  for (int i = 0; i <= 10'000; ++i) values.push_back(static_cast<float>(i) / 1000);
  Histogram histogram;
  histogram.add(values.data(), values.size());
  for (const RangeMethod method : {RangeMethod::kMinMax, RangeMethod::kMse}) {
    INFO(name_of(method));
    CHECK(range_of(histogram, method).highest > 9.8);
    CHECK(range_of(histogram, method).lowest == 0);
  }
}

TEST_CASE("range: zeros alone and nothing at all have a scale") {
  const std::vector<float> zeros(10, 0.0f);
  Histogram histogram;
  CHECK(range_of(histogram, RangeMethod::kMse).scale().scale > 0);
  histogram.add(zeros.data(), zeros.size());
  for (const RangeMethod method : all_range_methods()) CHECK(range_of(histogram, method).scale().scale > 0);
}
