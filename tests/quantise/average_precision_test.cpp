// SPDX-License-Identifier: BSD-3-Clause
// COCO's average precision, by hand; tests/tools/calibrate_boxes_test.py compares with another implementation.
#include "lib/quantise/average_precision.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert::quantise;

namespace {

const Box kBox = {10, 10, 30, 30}, kShifted = {12, 10, 32, 30}, kFar = {100, 100, 120, 120};

}  // namespace

TEST_CASE("average precision: one box found, missed, or found twice") {
  CHECK(mean_average_precision({{0, 1, 0.9, kShifted}}, {{0, 1, kBox}}) == Approx(1));
  CHECK(mean_average_precision({{0, 1, 0.9, kFar}}, {{0, 1, kBox}}) == 0);
  CHECK(mean_average_precision({{0, 2, 0.9, kBox}}, {{0, 1, kBox}}) == 0);
  CHECK(mean_average_precision({{1, 1, 0.9, kBox}}, {{0, 1, kBox}}) == 0);
  CHECK(mean_average_precision({}, {{0, 1, kBox}}) == 0);
  CHECK(mean_average_precision({{0, 1, 0.9, kBox}}, {}) == 0);
  // The second is wrong, but comes after all is found.
  CHECK(mean_average_precision({{0, 1, 0.9, kBox}, {0, 1, 0.8, kShifted}}, {{0, 1, kBox}}) == Approx(1));
  CHECK(mean_average_precision({{0, 1, 0.8, kBox}, {0, 1, 0.9, kFar}}, {{0, 1, kBox}}) == Approx(0.5));
}

TEST_CASE("average precision: an overlap of a half counts, less doesn't") {
  CHECK(mean_average_precision({{0, 1, 0.9, {0, 0, 10, 10}}}, {{0, 1, {0, 0, 20, 10}}}) == Approx(1));
  CHECK(mean_average_precision({{0, 1, 0.9, {0, 0, 9.9, 10}}}, {{0, 1, {0, 0, 20, 10}}}) == 0);
}

TEST_CASE("average precision: one of two boxes found makes 51 of 101 recalls") {
  CHECK(mean_average_precision({{0, 1, 0.9, kBox}}, {{0, 1, kBox}, {0, 1, kFar}}) == Approx(51.0 / 101));
}

TEST_CASE("average precision: the mean is over labels that have boxes") {
  CHECK(mean_average_precision({{0, 1, 0.9, kBox}, {0, 7, 0.9, kBox}}, {{0, 1, kBox}, {0, 2, kFar}}) == Approx(0.5));
}

TEST_CASE("average precision: detections in a crowd count neither way") {
  const std::vector<DrawnBox> boxes = {{0, 1, kBox}, {0, 1, {90, 90, 200, 200}, true}, {0, 3, kFar, true}};
  CHECK(mean_average_precision({{0, 1, 0.8, kBox}, {0, 1, 0.9, kFar}}, boxes) == Approx(1));
}

TEST_CASE("average precision: a hundred detections of a picture count") {
  std::vector<Detection> detections(100, Detection{0, 1, 0.9, kFar});
  detections.push_back({0, 1, 0.1, kBox});
  CHECK(mean_average_precision(detections, {{0, 1, kBox}}) == 0);
  detections.erase(detections.begin());
  CHECK(mean_average_precision(detections, {{0, 1, kBox}}) == Approx(0.01));
}
