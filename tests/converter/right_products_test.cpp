// SPDX-License-Identifier: BSD-3-Clause
// Tests which differences of a quantised detector PyTorch's own rounding explains.
#include "lib/converter/verify/right_products.h"

#include <catch2/catch.hpp>

namespace nnapi_convert {
namespace {

// A comparison of boxes, scores and labels: `strays` of 32 rows have no partner.
Verification differing(size_t strays, double snr_db) {
  Verification result;
  TiedRows rows;
  rows.rows = 32;
  rows.without_partner = strays;
  result.ties = rows;
  result.outputs.resize(3);
  for (OutputComparison& output : result.outputs) output.snr_db = snr_db;
  result.outputs[2].is_integral = true;
  result.outputs[2].snr_db = -20;
  return result;
}

}  // namespace

TEST_CASE("differences up to twice those of rounding are explained") {
  CHECK(is_explained_by_rounding(differing(16, 4), differing(9, 7)));
  CHECK(is_explained_by_rounding(differing(8, 7), differing(4, 13)));
  CHECK_FALSE(is_explained_by_rounding(differing(9, 7), differing(4, 13)));
  CHECK_FALSE(is_explained_by_rounding(differing(8, 6), differing(4, 13)));
}

TEST_CASE("a detector of other weights is not explained, however much rounding moves") {
  CHECK_FALSE(is_explained_by_rounding(differing(17, 7), differing(16, 7)));
  CHECK_FALSE(is_explained_by_rounding(differing(32, 7), differing(16, 7)));
  CHECK_FALSE(is_explained_by_rounding(differing(8, 7), differing(17, 7)));
  CHECK_FALSE(is_explained_by_rounding(differing(8, -1), differing(8, 2)));
}

TEST_CASE("scores near enough pass whatever rounding makes") {
  CHECK(is_explained_by_rounding(differing(0, 21), differing(0, 40)));
  CHECK_FALSE(is_explained_by_rounding(differing(0, 19), differing(0, 40)));
}

}  // namespace nnapi_convert
