// SPDX-License-Identifier: BSD-3-Clause
// Operators that draw random numbers: their distributions, the same numbers from the same place, and refusals.
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tests/program/operator_calls.h"

using namespace nnapi_shim::program_testing;

namespace {

constexpr int64_t kCount = 20000;

struct Moments {
  double mean, deviation;
};

Moments moments_of(const Floats& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / count)};
}

Floats drawn(Context& context, const char* name, const std::vector<Value>& inputs) {
  const Value value = result(context, name, inputs);
  return elements(context, value);
}

std::vector<int64_t> whole_numbers(const Value& value) {
  const auto* first = value.tensor().data<int64_t>();
  return {first, first + value.tensor().numel()};
}

Value zeros(Context& context, int64_t count) {
  return floats(context, {count}, Floats(static_cast<size_t>(count)));
}

}  // namespace

TEST_CASE("random normal numbers have the mean and the deviation") {
  Context context;
  const Value like = zeros(context, kCount), sizes = ints(context, {kCount});
  const Floats of_like = drawn(context, "aten::randn_like", {like, kNone, kNone, kNone, kNone, kNone});
  CHECK(moments_of(of_like).mean == Approx(0).margin(0.03));
  CHECK(moments_of(of_like).deviation == Approx(1).epsilon(0.03));
  const Floats of_sizes = drawn(context, "aten::randn", {sizes, kNone, kNone, kNone, kNone});
  CHECK(of_sizes != of_like);
  const Value target = zeros(context, kCount);
  const Floats in_place = drawn(context, "aten::normal_", {target, Value(3.0), Value(0.5), kNone});
  CHECK(moments_of(in_place).mean == Approx(3).margin(0.02));
  CHECK(moments_of(in_place).deviation == Approx(0.5).epsilon(0.03));
  CHECK(elements(context, target) == in_place);
  CHECK(*std::max_element(of_like.begin(), of_like.end()) > 3);
}

TEST_CASE("random uniform numbers fill their range") {
  Context context;
  const Floats unit = drawn(context, "aten::rand", {ints(context, {kCount}), kNone, kNone, kNone, kNone});
  CHECK(*std::min_element(unit.begin(), unit.end()) >= 0);
  CHECK(*std::max_element(unit.begin(), unit.end()) < 1);
  CHECK(moments_of(unit).mean == Approx(0.5).margin(0.01));
  CHECK(moments_of(unit).deviation == Approx(std::sqrt(1.0 / 12)).epsilon(0.02));
  const Floats wide = drawn(context, "aten::uniform_", {zeros(context, kCount), Value(-4.0), Value(2.0), kNone});
  CHECK(moments_of(wide).mean == Approx(-1).margin(0.05));
  CHECK(*std::min_element(wide.begin(), wide.end()) < -3.9F);
}

TEST_CASE("random numbers begin again where a context begins") {
  const auto first_numbers = [](uint64_t place) {
    Context context;
    context.random_state = place;
    return drawn(context, "aten::randn", {ints(context, {8}), kNone, kNone, kNone, kNone});
  };
  CHECK(first_numbers(0) == first_numbers(0));
  CHECK(first_numbers(0) != first_numbers(1));
}

TEST_CASE("random whole numbers, orders and ones") {
  Context context;
  const Value numbers = result(context, "aten::randint.low",
                               {number(-2), number(3), ints(context, {kCount}), kNone, kNone, kNone, kNone});
  std::map<int64_t, int64_t> counts;
  for (const int64_t each : whole_numbers(numbers)) ++counts[each];
  REQUIRE(counts.size() == 5);
  CHECK(counts.begin()->first == -2);
  for (const auto& [each, count] : counts) CHECK(static_cast<double>(count) == Approx(kCount / 5.0).epsilon(0.1));
  const Value order = result(context, "aten::randperm", {number(100), kNone, kNone, kNone, kNone});
  const std::vector<int64_t> places = whole_numbers(order);
  CHECK(std::set<int64_t>(places.begin(), places.end()).size() == 100);
  CHECK_FALSE(std::is_sorted(places.begin(), places.end()));
  const Floats ones = drawn(context, "aten::bernoulli.p", {zeros(context, kCount), Value(0.2), kNone});
  CHECK(moments_of(ones).mean == Approx(0.2).margin(0.01));
  const Floats chosen = drawn(context, "aten::bernoulli", {floats(context, {3}, {0, 1, 0}), kNone});
  CHECK(chosen == Floats{0, 1, 0});
}

TEST_CASE("multinomial() draws categories by their weights") {
  Context context;
  const Value weights = floats(context, {2, 4}, {1, 0, 3, 0, 0, 0, 0, 5});
  const Value found = result(context, "aten::multinomial", {weights, number(kCount), Value(true), kNone});
  CHECK(sizes_of(found) == std::vector<int64_t>{2, kCount});
  const std::vector<int64_t> all = whole_numbers(found);
  const auto count = [&](int64_t row, int64_t category) {
    return std::count(all.begin() + row * kCount, all.begin() + (row + 1) * kCount, category);
  };
  CHECK(static_cast<double>(count(0, 0)) == Approx(kCount / 4.0).epsilon(0.05));
  CHECK(count(0, 0) + count(0, 2) == kCount);
  CHECK(count(1, 3) == kCount);
  const Value row = floats(context, {5}, {1, 2, 0, 3, 4});
  for (int i = 0; i < 100; ++i) {
    const std::vector<int64_t> once =
        whole_numbers(result(context, "aten::multinomial", {row, number(4), Value(false), kNone}));
    CHECK(std::set<int64_t>(once.begin(), once.end()) == std::set<int64_t>{0, 1, 3, 4});
  }
}

TEST_CASE("random numbers that can't be drawn are refused") {
  Context context;
  const auto draw = [&](const Floats& weights, int64_t samples, bool again) {
    return refusal(
        context, "aten::multinomial",
        {floats(context, {static_cast<int64_t>(weights.size())}, weights), number(samples), Value(again), kNone});
  };
  CHECK(draw({1, 2}, 3, false) == "multinomial() draws 3 of 2 categories");
  CHECK(draw({1, 0}, 2, false) == "multinomial() draws 2 of 1 categories with weights above 0");
  CHECK(draw({0, 0}, 1, true) == "multinomial() draws 1 of 0 categories with weights above 0");
  CHECK(draw({1, -2}, 1, true) == "multinomial() with a weight of -2, needs 0 or more");
  CHECK(draw({1, NAN}, 1, true) == "multinomial() with a weight of nan, needs 0 or more");
  CHECK(draw({1, INFINITY}, 1, true) == "multinomial() of weights whose sum is inf");
  CHECK(draw({}, 1, true) == "multinomial() draws 1 of 0 categories with weights above 0");
  CHECK(refusal(context, "aten::normal_", {zeros(context, 1), Value(0.0), Value(-1.0), kNone}) ==
        "a standard deviation of -1, needs 0 or more");
  CHECK(refusal(context, "aten::randint", {number(0), ints(context, {1}), kNone, kNone, kNone, kNone}) ==
        "whole numbers from 0 to 0");
  CHECK(refusal(context, "aten::bernoulli.p", {zeros(context, 1), Value(1.5), kNone}) ==
        "a probability of 1.5, needs 0 to 1");
}
