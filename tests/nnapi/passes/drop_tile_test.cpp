// SPDX-License-Identifier: BSD-3-Clause
// Operations that broadcast read what a TILE repeats, where the other input has the full size.
#include "lib/nnapi/passes/drop_tile.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

// [1, 3, 1] repeated to [2, 3, 4], times another tensor; how many TILEs are left.
size_t tiles_left(OperationCode code, const Dims& other, bool tile_is_first) {
  Net net;
  const OperandId small = net.input({1, 3, 1}), large = net.input(other);
  const OperandId tiled = net.builder.add(OperationCode::TILE, {small, net.builder.int32_tensor({2, 1, 4})},
                                          testing::float_type({2, 3, 4}));
  net.output(tile_is_first ? net.binary(code, tiled, large) : net.binary(code, large, tiled));
  testing::check_keeps_results(net, [](Model& model) {
    drop_tile(model);
    compact(model);
  });
  return count(net.model, OperationCode::TILE);
}

}  // namespace

TEST_CASE("drop_tile: the other input has the full size") {
  CHECK(tiles_left(OperationCode::ADD, {2, 3, 4}, true) == 0);
  CHECK(tiles_left(OperationCode::SUB, {2, 3, 4}, false) == 0);
}

TEST_CASE("drop_tile: both inputs broadcast to the full size") {
  CHECK(tiles_left(OperationCode::MUL, {2, 1, 4}, true) == 0);
}

TEST_CASE("drop_tile: a TILE that makes the result larger stays") {
  CHECK(tiles_left(OperationCode::MUL, {1, 3, 4}, true) == 1);
  CHECK(tiles_left(OperationCode::MUL, {1}, false) == 1);
}

TEST_CASE("drop_tile: a TILE that is an output stays for the caller") {
  Net net;
  const OperandId small = net.input({1, 3}), large = net.input({2, 3});
  const OperandId tiled =
      net.builder.add(OperationCode::TILE, {small, net.builder.int32_tensor({2, 1})}, testing::float_type({2, 3}));
  net.output(net.binary(OperationCode::ADD, tiled, large));
  net.output(tiled);
  drop_tile(net.model);
  compact(net.model);
  CHECK(count(net.model, OperationCode::TILE) == 1);
  CHECK(testing::the(net.model, OperationCode::ADD).inputs[0] == small);
}
