// SPDX-License-Identifier: BSD-3-Clause
// Zeros of a PAD become a convolution's padding, others don't.
#include "lib/nnapi/passes/fold_padding.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

// Returns the number of PADs left before a convolution of a padded [1, 3, 5, 6].
size_t pads_left(const std::vector<int64_t>& before_after) {
  Net net;
  const OperandId input = net.input({1, 3, 5, 6});
  net.output(net.conv(net.pad(input, before_after), 4));
  testing::check_keeps_results(net, [](Model& model) {
    fold_padding(model);
    compact(model);
  });
  return count(net.model, OperationCode::PAD);
}

}  // namespace

TEST_CASE("fold_padding: zeros around height and width") {
  CHECK(pads_left({0, 0, 0, 0, 1, 1, 0, 1}) == 0);
  CHECK(pads_left({0, 0, 0, 0, 0, 1, 0, 1}) == 0);
}

TEST_CASE("fold_padding: zeros along batch or channels stay") {
  CHECK(pads_left({1, 0, 0, 0, 1, 1, 1, 1}) == 1);
}

TEST_CASE("fold_padding: more zeros than the filter is large stay") {
  CHECK(pads_left({0, 0, 0, 0, 1, 1, 2, 2}) == 1);
}

TEST_CASE("fold_padding: a pool doesn't take them") {
  Net net;
  net.output(net.max_pool(net.pad(net.input({1, 3, 4, 6}), {0, 0, 0, 0, 1, 1, 1, 1})));
  fold_padding(net.model);
  compact(net.model);
  CHECK(count(net.model, OperationCode::PAD) == 1);
}
