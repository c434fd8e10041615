// SPDX-License-Identifier: BSD-3-Clause
// What proves a drop of top-1 agreement.
#include "lib/quantise/target.h"

#include <catch2/catch.hpp>

#include "lib/base/error.h"
#include "lib/base/held_back.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;

namespace {

Distance agreed(double same, double rows) {
  Distance distance;
  distance.top1 = same / rows;
  distance.rows = distance.fewest_rows = rows;
  distance.proven_top1 = top1_interval(distance).lowest;
  distance.snr_db = 30;
  return distance;
}

}  // namespace

TEST_CASE("target: as many rows as are needed prove a drop, one fewer don't") {
  for (const double drop : {0.5, 0.1, 0.05, 0.01, 0.001}) {
    const double needed = rows_needed(drop);
    CHECK(holds({drop}, {agreed(needed, needed)}));
    CHECK_FALSE(holds({drop}, {agreed(needed - 1, needed - 1)}));
  }
  CHECK(rows_needed(0.05) == 73);
}

TEST_CASE("target: the interval decides") {
  CHECK_FALSE(holds({0.05}, {agreed(97, 100)}));
  CHECK(holds({0.05}, {agreed(990, 1000)}));
  CHECK(holds({1}, {agreed(1, 4)}));
  CHECK(holds({0.05, {}, false}, {agreed(97, 100)}));
  CHECK_FALSE(holds({{}, 31}, {agreed(1, 1)}));
}

TEST_CASE("target: too few samples are told") {
  CHECK_THROWS_WITH(check_provable({0.05}, agreed(8, 8), 8),
                    Catch::Contains("73 results are needed: give 146 samples"));
  CHECK_NOTHROW(check_provable({0.05}, agreed(80, 80), 8));
  CHECK_NOTHROW(check_provable({0.05, {}, false}, agreed(8, 8), 8));
  CHECK_NOTHROW(check_provable({1}, agreed(8, 8), 8));
  CHECK_THROWS_AS(check_provable({0}, agreed(80, 80), 8), ConvertError);
  CHECK_THROWS_WITH(check_provable({0.05}, Distance(), 8), Catch::Contains("--min-snr"));
}

TEST_CASE("held_back: every fifth, up to twenty") {
  const auto count = [](size_t samples, HoldBack rule = {}) {
    size_t held = 0;
    for (const bool each : held_back(samples, rule)) held += each ? 1 : 0;
    return held;
  };
  CHECK(count(4) == 0);
  CHECK(count(5) == 1);
  CHECK(count(64) == 13);
  CHECK(count(1000) == 20);
  CHECK(count(146, {2, 73}) == 73);
}
