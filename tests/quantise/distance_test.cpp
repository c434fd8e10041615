#include "lib/quantise/distance.h"

#include <catch2/catch.hpp>
#include <cmath>

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
