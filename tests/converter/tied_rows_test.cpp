// SPDX-License-Identifier: BSD-3-Clause
// Rows that scores order are matched by score and values.
#include "lib/converter/verify/tied_rows.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;

constexpr TieRule kRule{1e-4, false, 1e-3, false};

at::Tensor row(const std::vector<float>& values) {
  return at::tensor(values);
}

at::Tensor some_boxes(int64_t rows) {
  return random_floats({rows, 4}, 3);
}

}  // namespace

TEST_CASE("rows of equal scores get the order of the original") {
  const at::Tensor scores = row({0.9F, 0.5F, 0.5F, 0.5F, 0.1F}), boxes = some_boxes(5);
  const at::Tensor places = at::tensor(std::vector<int64_t>{0, 3, 1, 2, 4});
  const at::Tensor labels = at::arange(5);
  const test::Tensors expected = {boxes, scores, labels};
  test::Tensors found = {boxes.index_select(0, places), scores, labels.index_select(0, places)};
  const auto rows = match_rows(expected, found, kRule);
  REQUIRE(rows);
  CHECK(rows->rows == 5);
  CHECK(rows->moved == 3);
  CHECK(rows->without_partner + rows->at_the_cut == 0);
  CHECK(rows->are_matched());
  CHECK(found[0].equal(boxes));
  CHECK(found[2].equal(labels));
}

TEST_CASE("a row has no partner where its score or its values are others") {
  const at::Tensor scores = row({0.9F, 0.7F, 0.5F, 0.1F}), boxes = some_boxes(4);
  test::Tensors found = {boxes.clone(), row({0.9F, 0.7F, 0.55F, 0.1F})};
  const auto by_score = match_rows({boxes, scores}, found, kRule);
  REQUIRE(by_score);
  CHECK(by_score->without_partner == 1);
  CHECK_FALSE(by_score->are_matched());
  CHECK(found[1][2].item().toFloat() == 0.55F);  // scores are compared as they are
  found = {boxes.clone(), scores};
  found[0][1] += 1;
  const auto by_values = match_rows({boxes, scores}, found, kRule);
  REQUIRE(by_values);
  CHECK(by_values->without_partner == 1);
  found = {boxes, scores, at::tensor(std::vector<int64_t>{0, 1, 7, 3})};
  CHECK(match_rows({boxes, scores, at::arange(4)}, found, kRule)->without_partner == 1);
}

TEST_CASE("among the last scores another row may have been chosen") {
  const at::Tensor scores = row({0.9F, 0.8F, 0.7F, 0.6F, 0.5F, 0.1F, 0.1F}), boxes = some_boxes(8);
  const at::Tensor others = boxes.index_select(0, at::tensor(std::vector<int64_t>{0, 1, 2, 3, 4, 5, 7}));
  test::Tensors found = {others, scores};
  const auto rows = match_rows({boxes.narrow(0, 0, 7), scores}, found, kRule);
  REQUIRE(rows);
  CHECK(rows->at_the_cut == 1);
  CHECK(rows->without_partner == 0);
  CHECK(rows->are_matched());
}

TEST_CASE("lists of several pictures, and another number of rows") {
  const at::Tensor scores = row({0.9F, 0.5F, 0.5F, 0.2F, 0.8F, 0.4F, 0.3F, 0.3F}).reshape({2, 4});
  const at::Tensor boxes = random_floats({2, 4, 4}, 5);
  at::Tensor swapped = boxes.clone();
  swapped[0][1].copy_(boxes[0][2]);
  swapped[0][2].copy_(boxes[0][1]);
  test::Tensors found = {scores, swapped};
  const auto rows = match_rows({scores, boxes}, found, kRule);
  REQUIRE(rows);
  CHECK(rows->moved == 2);
  CHECK(found[1].equal(boxes));
  found = {scores[0].narrow(0, 0, 3), boxes[0].narrow(0, 0, 3)};
  CHECK_FALSE(match_rows({scores[0], boxes[0]}, found, kRule));
  const auto fewer = match_rows({scores[0], boxes[0]}, found, {1e-4, false, 1e-3, true});
  REQUIRE(fewer);
  CHECK(found[1].sizes() == boxes[0].sizes());
  CHECK(fewer->at_the_cut == 1);
}

TEST_CASE("results without scores stay as they are") {
  const at::Tensor boxes = some_boxes(6);
  test::Tensors found = {boxes.flip(0)};
  CHECK_FALSE(match_rows({boxes}, found, kRule));
  CHECK(found[0].equal(boxes.flip(0)));
  test::Tensors alone = {row({3, 2, 1})};
  CHECK_FALSE(match_rows({row({3, 2, 1})}, alone, kRule));
  test::Tensors infinite = {row({HUGE_VALF, 2, 1}), some_boxes(3)};
  CHECK_FALSE(match_rows(infinite, infinite, kRule));
}

}  // namespace nnapi_convert
