// SPDX-License-Identifier: BSD-3-Clause
// One pass over values whose range is not known before.
#include "lib/quantise/histogram.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using nnapi_convert::quantise::Histogram;

namespace {

uint64_t total(const Histogram& histogram) {
  return std::accumulate(histogram.bins().begin(), histogram.bins().end(), uint64_t{0});
}

// How many values lie below `limit`, which is a border of bins.
uint64_t below(const Histogram& histogram, double limit) {
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.bins().size(); ++i) count += histogram.centre(i) < limit ? histogram.bins()[i] : 0;
  return count;
}

std::vector<float> normal(size_t count, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

}  // namespace

TEST_CASE("histogram: growing ranges lose no value") {
  Histogram histogram;
  uint64_t count = 0, negative = 0;
  for (const float scale : {0.01f, 3.0f, 0.5f, 200.0f, 1e-4f}) {
    const std::vector<float> values = normal(1000, scale, 7);
    histogram.add(values.data(), values.size());
    count += values.size();
    for (const float value : values) negative += value < 0 ? 1 : 0;
  }
  CHECK(histogram.count() == count);
  CHECK(total(histogram) == count);
  CHECK(below(histogram, 0) == negative);
  CHECK(static_cast<double>(histogram.highest() - histogram.lowest()) > histogram.width() * Histogram::kBins / 4);
}

TEST_CASE("histogram: zeros, or tiny values, before usual ones") {
  for (const float first : {0.0f, 1e-30f, -1e-20f}) {
    Histogram histogram;
    const std::vector<float> silent(1000, first), values = normal(1000, 3, 7);
    histogram.add(silent.data(), silent.size());
    histogram.add(values.data(), values.size());
    CHECK(total(histogram) == 2000);
    const double range = static_cast<double>(histogram.highest() - histogram.lowest());
    CHECK(range > histogram.width() * Histogram::kBins / 4);
    CHECK(range < histogram.width() * Histogram::kBins);
  }
}

TEST_CASE("histogram: bins that reach to 0 are not many, however near to each other the values are") {
  for (const float offset : {3.0f, -1e6f, 1e-20f}) {
    Histogram histogram;
    std::vector<float> values(1000, offset);
    histogram.add(values.data(), values.size());
    values[0] *= 1.001f;
    histogram.add(values.data(), values.size());
    CHECK(std::abs(static_cast<double>(offset)) / histogram.width() < 2 * Histogram::kBins);
    CHECK(total(histogram) == 2000);
  }
}

TEST_CASE("histogram: two of them are that of all values") {
  const std::vector<float> first = normal(5000, 0.3f, 1), second = normal(5000, 17, 2);
  Histogram a, b, all;
  a.add(first.data(), first.size());
  b.add(second.data(), second.size());
  a.add(b);
  all.add(first.data(), first.size());
  all.add(second.data(), second.size());
  CHECK(a.count() == all.count());
  CHECK(a.lowest() == all.lowest());
  CHECK(a.highest() == all.highest());
  CHECK(below(a, 0) == below(all, 0));
  CHECK(total(a) == total(all));
}

TEST_CASE("histogram: infinite values and NaN are in no bin") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1, infinity, -2, std::nanf(""), -infinity, 0.5f};
  Histogram histogram;
  histogram.add(values.data(), values.size());
  CHECK(histogram.count() == 3);
  CHECK(histogram.not_finite() == 3);
  CHECK(histogram.lowest() == -2);
  CHECK(histogram.highest() == 1);
}

TEST_CASE("histogram: a value far from 0, alone") {
  const float value = 1e6f;
  Histogram histogram;
  for (int i = 0; i < 3; ++i) histogram.add(&value, 1);
  const float other = -1e-6f;
  histogram.add(&other, 1);
  CHECK(total(histogram) == 4);
}
