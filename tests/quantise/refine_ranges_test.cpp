// SPDX-License-Identifier: BSD-3-Clause
// Which other ranges are worth a trial.
#include "lib/quantise/refine_ranges.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert::quantise;

namespace {

// Operands 0 and 1 share a scale; operand 2 has its own, and operand 3 none.
Assignment assignment(const Range& shared, const Range& own) {
  Assignment result;
  result.groups = {1, 1, 2, 3};
  result.ranges = {shared, shared, own, std::nullopt};
  return result;
}

}  // namespace

TEST_CASE("refine_ranges: the largest changes come first, and equal ranges once") {
  const Assignment now = assignment({0, 10}, {-1, 1});
  const std::vector<Assignment> others = {assignment({0, 9}, {-1, 1}), assignment({0, 9.01}, {-0.5, 0.5}),
                                          assignment({0, 5}, {-1, 1.001})};
  const std::vector<RangeTrial> trials = range_trials(now, others, 10);
  REQUIRE(trials.size() == 3);
  CHECK(trials[0].operands == std::vector<size_t>{0, 1});
  CHECK(trials[0].range.highest == 5);
  CHECK(trials[1].operands == std::vector<size_t>{2});
  CHECK(trials[1].range.highest == 0.5);
  CHECK(trials[2].range.highest == 9);
  CHECK(range_trials(now, others, 1).size() == 1);
}

TEST_CASE("refine_ranges: a tensor that another assignment leaves float has no trial there") {
  const Assignment now = assignment({0, 10}, {-1, 1});
  Assignment other = assignment({0, 5}, {-1, 1});
  other.ranges[0] = other.ranges[1] = std::nullopt;
  CHECK(range_trials(now, {other}, 10).empty());
}
