// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/noise.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

namespace nnapi_convert::quantise {
namespace {

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

nnapi::Model with_outputs(const std::vector<OperandCode>& types) {
  nnapi::Model model;
  for (const OperandCode type : types) {
    model.outputs.push_back({static_cast<nnapi::OperandId>(model.operands.size())});
    model.operands.emplace_back();
    model.operands.back().type = type;
  }
  return model;
}

TEST_CASE("an output's noise is a share of its own power over all samples") {
  const nnapi::Model model =
      with_outputs({OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_INT32, OperandCode::TENSOR_FLOAT32});
  const Bytes integers = bytes_of<int32_t>({1});
  const Results expected = {{bytes_of<float>({3, 4}), integers, bytes_of<float>({100})},
                            {bytes_of<float>({0, 5}), integers, bytes_of<float>({0})}};
  const Results found = {{bytes_of<float>({3, 6}), bytes_of<int32_t>({7}), bytes_of<float>({90})},
                         {bytes_of<float>({1, 5}), integers, bytes_of<float>({10})}};
  const NoiseMeter meter(model, expected);
  const Noises noises = meter.noises(found);
  REQUIRE(noises.size() == 2);
  CHECK(noises[0] == Approx((4.0 / 50 + 0.01) / 2));
  CHECK(noises[1] == Approx((1.0 / 50 + 0.01) / 2));
  CHECK(total(noises) == Approx(noises[0] + noises[1]));
  CHECK(total(noises, 1) == noises[0]);
  CHECK(meter.noises({found[0]}) == Noises{noises[0]});
}

TEST_CASE("the noise of integers alone is the share of others") {
  const nnapi::Model model = with_outputs({OperandCode::TENSOR_INT32});
  const Results expected = {{bytes_of<int32_t>({1, 2, 3, 4})}, {bytes_of<int32_t>({5, 6, 7, 8})}};
  const Results found = {{bytes_of<int32_t>({1, 2, 3, 9})}, {bytes_of<int32_t>({5, 6, 7, 8})}};
  CHECK(NoiseMeter(model, expected).noises(found) == Noises{0.125, 0});
}

TEST_CASE("numbers that aren't finite, and outputs that are silent, have no noise of their own") {
  const nnapi::Model model = with_outputs({OperandCode::TENSOR_FLOAT32});
  const float infinite = std::numeric_limits<float>::infinity();
  const Results expected = {{bytes_of<float>({infinite, 2})}};
  CHECK(NoiseMeter(model, expected).noises({{bytes_of<float>({1, 2})}}) == Noises{0});
  const Results silent = {{bytes_of<float>({0, 0})}};
  CHECK(NoiseMeter(model, silent).noises(silent) == Noises{0});
  CHECK(NoiseMeter(model, silent).noises({{bytes_of<float>({0, 1})}}) == Noises{1});
}

TEST_CASE("a gain of each sample is more than chance") {
  const Noises before = {1, 2, 3, 4, 5}, after = {0.8, 1.8, 2.8, 3.8, 4.79};
  for (const Chance chance : {Chance::kOneIn40, Chance::kOneIn1000}) {
    CHECK(is_nearer_beyond_chance(after, before, chance));
    CHECK_FALSE(is_nearer_beyond_chance(before, before, chance));
    CHECK_FALSE(is_nearer_beyond_chance(before, after, chance));
  }
}

TEST_CASE("a gain of one sample, however large, is chance") {
  Noises before(40, 1), after(40, 1);
  before[7] = 30;
  CHECK_FALSE(is_nearer_beyond_chance(after, before, Chance::kOneIn40));
  CHECK_FALSE(is_nearer_beyond_chance({1}, {2}, Chance::kOneIn40));
}

// How many of 100,000 differences without any gain pass.
int passed(size_t samples, Chance chance) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int count = 0;
  for (int round = 0; round < 100000; ++round) {
    Noises one, other;
    for (size_t i = 0; i < samples; ++i) one.push_back(10 + normal(random)), other.push_back(10 + normal(random));
    count += is_nearer_beyond_chance(one, other, chance) ? 1 : 0;
  }
  return count;
}

TEST_CASE("differences that are chance pass as often as promised") {
  for (const size_t samples : {2, 3, 4, 5, 6, 10, 50}) {
    INFO(samples << " samples");
    CHECK(passed(samples, Chance::kOneIn40) == Approx(2500).margin(200));
    CHECK(passed(samples, Chance::kOneIn1000) == Approx(100).margin(40));
  }
}

}  // namespace
}  // namespace nnapi_convert::quantise
