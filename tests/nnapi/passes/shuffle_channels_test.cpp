// SPDX-License-Identifier: BSD-3-Clause
// RESHAPE, TRANSPOSE and RESHAPE as CHANNEL_SHUFFLE, in the weights of a convolution, and written out again.
#include "lib/nnapi/passes/shuffle_channels.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::count;
using testing::Net;

namespace {

constexpr int kLevelWithShuffle = 3, kLevelWithout = 2;

// The channels of [1, 6, 4, 5] as `groups` and the rest, exchanged.
OperandId shuffled(Net& net, OperandId x, int64_t groups) {
  const Dims from = net.dims(x);
  const OperandId parts = net.reshape(x, {1, groups, 6 / groups, 20});
  return net.reshape(net.transpose(parts, {0, 2, 1, 3}), from);
}

// Runs the pass, checks that the model computes the same, and gives what is left.
std::vector<OperationCode> after_pass(Net& net, int feature_level) {
  testing::check_keeps_results(net, [&](Model& model) {
    shuffle_channels(model, feature_level);
    compact(model);
  });
  return codes(net.model);
}

using Codes = std::vector<OperationCode>;

}  // namespace

TEST_CASE("shuffle_channels: three moves are one operation") {
  Net net;
  net.output(net.max_pool(shuffled(net, net.input({1, 6, 4, 5}), 2)));
  CHECK(after_pass(net, kLevelWithShuffle) == Codes{OperationCode::CHANNEL_SHUFFLE, OperationCode::MAX_POOL_2D});
}

TEST_CASE("shuffle_channels: below its level the moves stay") {
  Net net;
  net.output(net.max_pool(shuffled(net, net.input({1, 6, 4, 5}), 3)));
  CHECK(after_pass(net, kLevelWithout) ==
        Codes{OperationCode::RESHAPE, OperationCode::TRANSPOSE, OperationCode::RESHAPE, OperationCode::MAX_POOL_2D});
}

TEST_CASE("shuffle_channels: the convolution before gives the new order") {
  Net net;
  net.output(shuffled(net, net.unary(OperationCode::RELU, net.conv(net.input({1, 3, 4, 5}), 6)), 2));
  CHECK(after_pass(net, kLevelWithout) == Codes{OperationCode::CONV_2D, OperationCode::RELU});
}

TEST_CASE("shuffle_channels: convolutions after it read the old order") {
  Net net;
  const OperandId x = shuffled(net, net.unary(OperationCode::RELU, net.input({1, 6, 4, 5})), 3);
  net.output(net.binary(OperationCode::ADD, net.conv(x, 4), net.conv(x, 4)));
  CHECK(after_pass(net, kLevelWithShuffle) ==
        Codes{OperationCode::RELU, OperationCode::CONV_2D, OperationCode::CONV_2D, OperationCode::ADD});
}

TEST_CASE("shuffle_channels: other readers keep it") {
  Net net;
  const OperandId x = shuffled(net, net.input({1, 6, 4, 5}), 3);
  net.output(net.conv(x, 4));
  net.output(net.unary(OperationCode::RELU, x));
  CHECK(after_pass(net, kLevelWithShuffle) ==
        Codes{OperationCode::CHANNEL_SHUFFLE, OperationCode::CONV_2D, OperationCode::RELU});
}

TEST_CASE("shuffle_channels: a TRANSPOSE of other axes is none") {
  Net net;
  const OperandId parts = net.reshape(net.input({1, 6, 4, 5}), {6, 4, 5, 1});
  net.output(net.reshape(net.transpose(parts, {0, 2, 1, 3}), {1, 6, 4, 5}));
  CHECK(after_pass(net, kLevelWithShuffle).size() == 3);
}
