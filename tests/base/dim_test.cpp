// SPDX-License-Identifier: BSD-3-Clause
// Size expressions: normal form, division, evaluation.
#include "lib/base/dim.h"

#include <catch2/catch.hpp>

#include "lib/base/error.h"
#include "tests/base/random_dim.h"

using namespace nnapi_convert;

namespace {

const Dim kH = Dim::of_input(0, 2);
const Dim kW = Dim::of_input(0, 3);

}  // namespace

TEST_CASE("Dim: numbers") {
  CHECK(Dim().value() == 0);
  CHECK(Dim(7).value() == 7);
  CHECK(Dim(-7).is_fixed());
  CHECK((Dim(3) + 4).value() == 7);
  CHECK((Dim(3) - 4).value() == -1);
  CHECK((Dim(3) * 4).value() == 12);
  CHECK((Dim(3) * 0).value() == 0);
  CHECK(Dim(7).floor_div(2).value() == 3);
  CHECK(Dim(-7).floor_div(2).value() == -4);
  CHECK(Dim(-8).floor_div(2).value() == -4);
  CHECK(Dim(7).fixed_value() == 7);
}

TEST_CASE("Dim: sizes of inputs are not numbers") {
  CHECK_FALSE(kH.is_fixed());
  CHECK_FALSE(kH.fixed_value().has_value());
  CHECK_THROWS_AS(kH.value(), std::logic_error);
  CHECK(kH == Dim::of_input(0, 2));
  CHECK(kH != kW);
  CHECK(kH != Dim::of_input(1, 2));
  CHECK((kH - kH).is_fixed());
  CHECK((kH * 0).value() == 0);
  Dim twice = kH + 3;
  twice += twice;
  CHECK(twice == kH * 2 + 6);
}

TEST_CASE("Dim: equal sizes written differently are equal") {
  CHECK((kH + 2 - 3).floor_div(2) + 1 == (kH - 1).floor_div(2) + 1);
  CHECK((kH + 2 - 3).floor_div(2) + 1 == (kH + 1).floor_div(2));
  CHECK(kH + kW == kW + kH);
  CHECK(kH * kW == kW * kH);
  CHECK((kH + 1) * (kH - 1) == kH * kH - 1);
  CHECK((kH + kW) * (kH + kW) == kH * kH + 2 * kH * kW + kW * kW);
  CHECK((kH * 4 + 6).floor_div(4) == kH + 1);
  CHECK((kH * 4 - 1).floor_div(4) == kH - 1);
  CHECK((kH * 2 + kW).floor_div(2) == kH + kW.floor_div(2));
  CHECK(kH.floor_div(1) == kH);
}

TEST_CASE("Dim: nested floor divisions become one") {
  CHECK(kH.floor_div(2).floor_div(3) == kH.floor_div(6));
  CHECK((kH.floor_div(2) + 1).floor_div(2) == (kH + 2).floor_div(4));
  CHECK(((kH - 1).floor_div(2) + 1 - 1).floor_div(2) + 1 == (kH - 1).floor_div(4) + 1);
  CHECK((kH.floor_div(2) * 2) != kH);
  CHECK(kH.floor_div(2) + (kH + 1).floor_div(2) != kW);
}

TEST_CASE("Dim: five halvings, as in a convolutional net, are one division") {
  Dim size = kH;
  for (int i = 0; i < 5; ++i) size = (size + 2 - 3).floor_div(2) + 1;
  CHECK(size == (kH + 31).floor_div(32));
  CHECK(size.evaluate([](int, int) { return 224; }) == 7);
  CHECK(size.evaluate([](int, int) { return 225; }) == 8);
}

TEST_CASE("Dim: order is strict and total on unequal expressions") {
  CHECK_FALSE(kH < kH);
  CHECK((kH < kW) != (kW < kH));
}

TEST_CASE("Dim: a number and an expression differ, and a number that comes of expressions is one") {
  CHECK(kH != Dim(7));
  CHECK(Dim(7) != kH);
  CHECK((kH + 7 - kH).is_fixed());
  CHECK(kH + 7 - kH == Dim(7));
  CHECK((kH * 0).value() == 0);
  CHECK_FALSE(Dim(8).exact_div(Dim(0)).has_value());
  CHECK(Dim(8).exact_div(Dim(2)) == Dim(4));
  CHECK_FALSE(Dim(8).exact_div(kH).has_value());
  CHECK((kH * 6).exact_div(Dim(3)) == kH * 2);
}

TEST_CASE("Dim: floor_div by zero or less is refused") {
  CHECK_THROWS_WITH(kH.floor_div(0), "a stride or step of 0 found, 1 or more needed");
  CHECK_THROWS_WITH(kH.floor_div(-2), "a stride or step of -2 found, 1 or more needed");
}

TEST_CASE("Dim: expressions that fall with the sizes") {
  const Dim h = Dim::of_input(0, 2), w = Dim::of_input(0, 3);
  for (const Dim& negative : {Dim(0) - h, Dim(1) - h - w, Dim(-1) - h.floor_div(2), Dim(0) - h * w}) {
    CHECK(negative.falls_with_sizes());
    CHECK(negative.is_negative());
  }
  for (const Dim& other : {Dim(1) - h, Dim(0) - h.floor_div(2)}) {
    CHECK(other.falls_with_sizes());
    CHECK_FALSE(other.is_negative());
  }
  for (const Dim& other : {h, h - w, h - Dim(2), Dim(-3)}) {
    CHECK_FALSE(other.falls_with_sizes());
    CHECK_FALSE(other.is_negative());
  }
}

TEST_CASE("Dim: exact division") {
  CHECK(*Dim(12).exact_div(4) == 3);
  CHECK(*Dim(0).exact_div(4) == 0);
  CHECK_FALSE(Dim(13).exact_div(4).has_value());
  CHECK_FALSE(Dim(13).exact_div(0).has_value());
  CHECK(*(kH * kW * 6).exact_div(kH * 2) == kW * 3);
  CHECK(*(kH * kH).exact_div(kH) == kH);
  CHECK(*(kH * kW + kH * 4).exact_div(kH) == kW + 4);
  CHECK(*(kH + 1).exact_div(kH + 1) == 1);
  CHECK(*(kH.floor_div(2) * kW).exact_div(kH.floor_div(2)) == kW);
  CHECK(*(kH.floor_div(5) * 64 - 64).exact_div(kH.floor_div(5) * 16 - 16) == 4);
  CHECK(*(kH * 2 + kW * 2).exact_div(kH + kW) == 2);
  CHECK_FALSE((kH * 2 + kW * 4).exact_div(kH + kW).has_value());
  CHECK_FALSE(kH.exact_div(2).has_value());
  CHECK_FALSE((kH * kW + 4).exact_div(kH).has_value());
  CHECK_FALSE(kH.exact_div(kH * kH).has_value());
  CHECK_FALSE(Dim(6).exact_div(kH).has_value());
}

TEST_CASE("Dims: products, numbers, text") {
  CHECK(product({}) == 1);
  CHECK(product({2, kH, 3, kW}) == kH * kW * 6);
  CHECK(all_fixed({}));
  CHECK(all_fixed({1, 2}));
  CHECK_FALSE(all_fixed({1, kH}));
  CHECK(fixed_values({1, 2, 3}) == std::vector<int64_t>{1, 2, 3});
  CHECK_THROWS_AS(fixed_values({1, kH}), std::logic_error);
  CHECK(to_dims({4, 5}) == Dims{4, 5});
  CHECK(to_text(Dims{}) == "[]");
  CHECK(to_text(Dims{1, 3, kH, 224}) == "[1, 3, x0.2, 224]");
}

TEST_CASE("Dim: random expressions evaluate to what plain integers give") {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto expression = testing::random_dim(random, 1 + i % 4);
    for (int j = 0; j < 10; ++j) {
      const testing::Sizes sizes = testing::random_sizes(random);
      INFO(expression.dim.text());
      REQUIRE(expression.dim.evaluate(sizes) == expression.direct(sizes));
    }
  }
}

TEST_CASE("Dim: equal random expressions are equal for every size, and exact quotients multiply back") {
  std::mt19937 random(2);
  int equal = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto a = testing::random_dim(random, 1);
    const auto b = testing::random_dim(random, 1);
    const auto quotient = (a.dim * b.dim).exact_div(b.dim);
    if (quotient) CHECK(*quotient * b.dim == a.dim * b.dim);
    if (a.dim != b.dim) continue;
    ++equal;
    const testing::Sizes sizes = testing::random_sizes(random);
    REQUIRE(a.direct(sizes) == b.direct(sizes));
  }
  CHECK(equal > 20);  // else the loop tested nothing
}

namespace {

// Computes each part as it is visited.
class Evaluation : public DimVisitor {
 public:
  size_t number(int64_t value) override { return add(value); }
  size_t size(int input, int axis) override { return add(100 * (input + 1) + axis); }
  size_t sum(size_t a, size_t b) override { return add(values[a] + values[b]); }
  size_t product(size_t a, size_t b) override { return add(values[a] * values[b]); }
  size_t floor_div(size_t a, size_t b) override { return add(values[a] / values[b]); }

  std::vector<int64_t> values;

 private:
  size_t add(int64_t value) {
    values.push_back(value);
    return values.size() - 1;
  }
};

}  // namespace

TEST_CASE("a visitor sees what evaluate computes") {
  const Dim h = Dim::of_input(0, 2), w = Dim::of_input(1, 3);
  const auto size_of = [](int input, int axis) { return int64_t{100} * (input + 1) + axis; };
  for (const Dim& dim : {Dim(0), Dim(7), h, h + w, h * w * Dim(3) - Dim(5), (h * Dim(2) + w).floor_div(3) * w,
                         ((h - Dim(1)).floor_div(2) + Dim(1)).floor_div(2) * Dim(-4) + h * h}) {
    Evaluation evaluation;
    const size_t whole = dim.visit(evaluation);
    INFO(dim.text());
    CHECK(evaluation.values[whole] == dim.evaluate(size_of));
  }
}

TEST_CASE("dim: sizes beyond 64 bits are refused") {
  const Dim large(int64_t{1} << 62);
  CHECK_THROWS_AS(large + large, ConvertError);
  CHECK_THROWS_AS(large * Dim(2), ConvertError);
  CHECK_THROWS_AS(product({Dim(2000000000), Dim(2000000000), Dim(3)}), ConvertError);
  const Dim flexible = large * Dim::of_input(0, 0);
  CHECK(flexible.evaluate([](int, int) { return 1; }) == int64_t{1} << 62);
  CHECK_THROWS_AS(flexible.evaluate([](int, int) { return 2; }), ConvertError);
}
