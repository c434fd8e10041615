// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/distance.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

namespace nnapi_convert::quantise {
namespace {

Distance with_top1(double top1, double rows) {
  Distance distance;
  distance.top1 = top1;
  distance.rows = rows;
  return distance;
}

// By how many of its own standard deviations a true share would have to be off to give the one that was seen.
double deviations(double truth, double seen, double rows) {
  return std::abs(seen - truth) / std::sqrt(truth * (1 - truth) / rows);
}

Bytes bytes_of(const std::vector<int32_t>& values) {
  Bytes bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("of integers alone, the share that is the same tells the distance") {
  nnapi::Model model;
  model.operands.emplace_back();
  model.operands[0].type = OperandCode::TENSOR_INT32;
  model.operands[0].dims = {Dim(4)};
  model.outputs.push_back({0});
  const Results expected = {{bytes_of({1, 2, 3, 4})}, {bytes_of({5, 6, 7, 8})}};
  const Results found = {{bytes_of({1, 2, 3, 9})}, {bytes_of({5, 0, 7, 8})}};
  const Distance apart = distance(model, expected, found);
  CHECK(apart.is_of_integers);
  CHECK(apart.top1 == 0.75);
  CHECK(apart.rows == 8);
  CHECK(distance(model, expected, expected).top1 == 1);
}

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Distance distance_of_picture(const Dims& dims, bool nhwc, const std::vector<float>& expected,
                             const std::vector<float>& found) {
  nnapi::Model model;
  model.operands.emplace_back();
  model.operands[0].type = OperandCode::TENSOR_FLOAT32;
  model.operands[0].dims = dims;
  model.outputs.push_back({0, nhwc});
  return distance(model, {{bytes_of(expected)}}, {{bytes_of(found)}});
}

TEST_CASE("the classes of pictures are their channels, in both layouts") {
  // Two classes of 1 x 3 pixels; the last pixel's class is another one.
  const Distance nhwc =
      distance_of_picture({Dim(1), Dim(1), Dim(3), Dim(2)}, true, {1, 0, 0, 1, 1, 0}, {1, 0, 0, 1, 0, 1});
  const Distance nchw =
      distance_of_picture({Dim(1), Dim(2), Dim(1), Dim(3)}, false, {1, 0, 1, 0, 1, 0}, {1, 0, 0, 0, 1, 1});
  for (const Distance& each : {nhwc, nchw}) {
    CHECK(each.rows == 3);
    CHECK(each.top1 == Approx(2.0 / 3));
  }
}

TEST_CASE("at its bounds a true share is 1.96 standard deviations from the one that was seen") {
  for (const double rows : {10.0, 200.0, 1000.0}) {
    for (const double seen : {0.3, 0.95, 0.99}) {
      const Interval interval = top1_interval(with_top1(seen, rows));
      CHECK(interval.lowest < seen);
      CHECK(interval.highest > seen);
      CHECK(deviations(interval.lowest, seen, rows) == Approx(1.96).epsilon(1e-4));
      CHECK(deviations(interval.highest, seen, rows) == Approx(1.96).epsilon(1e-4));
    }
  }
}

TEST_CASE("ten rows that all agree leave 72 to 100 in a hundred") {
  const Interval interval = top1_interval(with_top1(1, 10));
  CHECK(interval.lowest == Approx(10 / (10 + 1.96 * 1.96)).epsilon(1e-4));
  CHECK(interval.highest == Approx(1));
}

TEST_CASE("nothing is known of a share of no rows") {
  const Interval none = top1_interval(with_top1(1, 0));
  CHECK(none.lowest == 0);
  CHECK(none.highest == 1);
}

}  // namespace
}  // namespace nnapi_convert::quantise
