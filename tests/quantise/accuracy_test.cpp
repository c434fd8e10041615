// SPDX-License-Identifier: BSD-3-Clause
// Accuracy by classes, and the interval of what is lost of it.
#include "lib/quantise/accuracy.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "lib/base/error.h"
#include "lib/quantise/target.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;

namespace {

// A model with one output of this shape.
nnapi::Model giving(OperandCode type, const std::vector<int64_t>& shape) {
  nnapi::Model model;
  nnapi::Operand operand;
  operand.type = type;
  for (const int64_t size : shape) operand.dims.emplace_back(size);
  model.outputs.push_back({model.add(std::move(operand))});
  return model;
}

template <typename Number>
std::vector<Bytes> result(const std::vector<Number>& numbers) {
  Bytes bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {bytes};
}

Accuracy lost_and_won(size_t samples, size_t lost, size_t won) {
  const size_t both = (samples - lost - won) / 2;
  return {samples, both + lost, both + won, lost, won};
}

}  // namespace

TEST_CASE("accuracy: counts what each of the two gets right") {
  const nnapi::Model model = giving(OperandCode::TENSOR_FLOAT32, {1, 3});
  const std::vector<ClassOutput> outputs = class_outputs(model);
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].classes == 3);
  const auto zero = result<float>({5, 1, 2}), one = result<float>({1, 5, 2}), two = result<float>({1, 2, 5});
  const Classes classes = {0, 1, 2, std::nullopt, 1};
  const Accuracy counts =
      accuracy(model, outputs[0], classes, {zero, one, one, zero, zero}, {zero, two, two, one, one});
  CHECK(counts.samples == 4);
  CHECK(counts.right_float == 2);
  CHECK(counts.right_integers == 3);
  CHECK(counts.only_float == 1);
  CHECK(counts.only_integers == 2);
  CHECK(counts.of_float() == 0.5);
}

TEST_CASE("accuracy: outputs that tell a class") {
  CHECK(class_outputs(giving(OperandCode::TENSOR_FLOAT32, {1, 10, 1, 1}))[0].classes == 10);
  CHECK(class_outputs(giving(OperandCode::TENSOR_FLOAT32, {1, 10, 4, 4})).empty());
  CHECK(class_outputs(giving(OperandCode::TENSOR_FLOAT32, {2, 10})).empty());
  CHECK(class_outputs(giving(OperandCode::TENSOR_FLOAT32, {1, 1})).empty());
  const nnapi::Model integers = giving(OperandCode::TENSOR_INT32, {1});
  REQUIRE(class_outputs(integers).size() == 1);
  const Accuracy counts =
      accuracy(integers, class_outputs(integers)[0], {7, 7}, {result<int32_t>({7}), result<int32_t>({7})},
               {result<int32_t>({7}), result<int32_t>({6})});
  CHECK(counts.right_float == 2);
  CHECK(counts.right_integers == 1);
}

TEST_CASE("accuracy: the interval of the loss") {
  constexpr double kZ = 1.959964 * 1.959964;
  for (const size_t samples : {10, 100, 1000}) {
    const auto n = static_cast<double>(samples);
    const Interval none = loss_interval(lost_and_won(samples, 0, 0));
    CHECK(none.highest == Approx(kZ / (n + kZ)));
    CHECK(none.lowest == Approx(-kZ / (n + kZ)));
  }
  const Interval one = loss_interval(lost_and_won(100, 9, 3)), other = loss_interval(lost_and_won(100, 3, 9));
  CHECK(one.lowest == Approx(-other.highest));
  CHECK(one.highest == Approx(-other.lowest));
  CHECK(one.lowest < 0.06);
  CHECK(one.highest > 0.06);
  // Of many samples it is the normal interval of a paired difference.
  const Interval many = loss_interval(lost_and_won(1'000'000, 30'000, 10'000));
  CHECK(many.lowest == Approx(0.02 - 1.96 * std::sqrt(0.0396e-6)).margin(2e-5));
  CHECK(many.highest == Approx(0.02 + 1.96 * std::sqrt(0.0396e-6)).margin(2e-5));
  CHECK(loss_interval({}).lowest == -1);
  CHECK(loss_interval(lost_and_won(20, 20, 0)).highest == Approx(1));
}

TEST_CASE("accuracy: the interval holds the true loss in 95 of 100 simulated cases") {
  std::mt19937 random(1);
  constexpr int kRounds = 4000;
  for (const size_t samples : {50, 200, 1000}) {
    for (const auto& [lost, won] :
         {std::pair(0.02, 0.02), std::pair(0.06, 0.01), std::pair(0.1, 0.1), std::pair(0.3, 0.1)}) {
      int holding = 0;
      std::discrete_distribution<int> draw({lost, won, 1 - lost - won});
      for (int round = 0; round < kRounds; ++round) {
        size_t found[3] = {0, 0, 0};
        for (size_t i = 0; i < samples; ++i) ++found[draw(random)];
        const Interval interval = loss_interval(lost_and_won(samples, found[0], found[1]));
        holding += interval.lowest <= lost - won && lost - won <= interval.highest ? 1 : 0;
      }
      INFO(samples << " samples, " << lost << " lost, " << won << " won: " << holding << " of " << kRounds);
      CHECK(holding >= 0.935 * kRounds);
      CHECK(holding <= 0.99 * kRounds);
    }
  }
}

TEST_CASE("accuracy: a drop has to be proven") {
  CHECK(holds({0.05}, {{}, lost_and_won(100, 0, 0)}));
  CHECK_FALSE(holds({0.03}, {{}, lost_and_won(100, 0, 0)}));
  CHECK_FALSE(holds({0.05}, {{}, lost_and_won(100, 4, 0)}));
  CHECK(holds({0.05}, {{}, lost_and_won(100, 0, 4)}));
  CHECK_NOTHROW(check_loss_provable({0.05}, 73, 73));
  CHECK_THROWS_WITH(check_loss_provable({0.05}, 72, 72), Catch::Contains("73 are needed: give 146 samples"));
  CHECK_THROWS_AS(check_loss_provable({0}, 72, 72), ConvertError);
}

TEST_CASE("accuracy: a score's drop is a difference, or a share of float's number") {
  CHECK(holds({0.02}, {{}, {}, Score{"mAP", 0.5, 0.485, true}}));
  CHECK_FALSE(holds({0.02}, {{}, {}, Score{"mAP", 0.5, 0.475, true}}));
  CHECK(holds({0.02}, {{}, {}, Score{"metric", 30, 29.5, false}}));
  CHECK_FALSE(holds({0.02}, {{}, {}, Score{"metric", 30, 29.3, false}}));
  CHECK(holds({0.02}, {{}, {}, Score{"metric", -30, -30.5, false}}));
  CHECK_FALSE(holds({0.02}, {{}, {}, Score{"metric", 0, -1, false}}));
}

TEST_CASE("fewest_float: the least number that holds") {
  for (const size_t count : {1, 2, 7, 20}) {
    for (size_t least = 1; least <= count; ++least) {
      CHECK(fewest_float(count, [&](size_t kept) { return kept >= least; }) == least);
    }
  }
  CHECK(fewest_float(5, [](size_t) { return false; }) == 5);
}
