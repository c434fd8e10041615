// SPDX-License-Identifier: BSD-3-Clause
// Rolls and partitions into windows become one GATHER of rows, and the model computes the same.
#include "lib/nnapi/passes/gather_rows.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

constexpr int64_t kChannels = 8;

// Rolls [1, 4, 6, channels] by one along an axis.
OperandId rolled(Net& net, OperandId x, size_t axis) {
  const std::vector<int64_t> sizes = fixed_values(net.dims(x)), strides(4, 1);
  std::vector<int64_t> middle(4, 0), end = sizes;
  middle[axis] = sizes[axis] - 1;
  const OperandId last = net.strided_slice(x, middle, sizes, strides);
  end[axis] = sizes[axis] - 1;
  const OperandId first = net.strided_slice(x, std::vector<int64_t>(4, 0), end, strides);
  return net.concatenation({last, first}, static_cast<int64_t>(axis));
}

OperandId shifted_windows(Net& net, OperandId x) {
  const OperandId moved = rolled(net, rolled(net, x, 1), 2);
  const OperandId windows = net.transpose(net.reshape(moved, {2, 2, 3, 2 * kChannels}), {0, 2, 1, 3});
  return net.reshape(windows, {24, kChannels});
}

// Runs the pass, and checks the operations that are left and what they compute.
void check_gathered(Net& net, const std::vector<OperationCode>& left, int feature_level = 3) {
  testing::check_keeps_results(net, [&](Model& model) {
    gather_rows(model, feature_level);
    merge_moves(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
}

}  // namespace

TEST_CASE("gather_rows: shifted windows before a linear layer") {
  Net net;
  net.output(net.fully_connected(shifted_windows(net, net.input({1, 4, 6, kChannels})), 4));
  check_gathered(net, {OperationCode::RESHAPE, OperationCode::GATHER, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("gather_rows: windows that go back behind a linear layer") {
  Net net;
  const OperandId windows = net.fully_connected(net.input({24, 5}), kChannels);
  const OperandId rows = net.transpose(net.reshape(windows, {2, 3, 2, 2 * kChannels}), {0, 2, 1, 3});
  const OperandId picture = rolled(net, rolled(net, net.reshape(rows, {1, 4, 6, kChannels}), 1), 2);
  net.output(net.unary(OperationCode::RELU, picture));
  check_gathered(net,
                 {OperationCode::FULLY_CONNECTED, OperationCode::GATHER, OperationCode::RESHAPE, OperationCode::RELU});
}

// From rows in windows of 2 by 3 to a picture in NCHW.
OperandId picture_of_windows(Net& net, OperandId rows) {
  const OperandId parts = net.reshape(net.transpose(rows, {1, 0}), {2 * kChannels, 2, 2, 3});
  return net.reshape(net.transpose(parts, {0, 2, 1, 3}), {1, kChannels, 4, 6});
}

TEST_CASE("gather_rows: windows to rows of another order, by way of a picture in NCHW") {
  Net net;
  const OperandId picture = picture_of_windows(net, net.unary(OperationCode::RELU, net.input({24, kChannels})));
  const OperandId rows = net.reshape(net.transpose(picture, {0, 2, 3, 1}), {24, kChannels});
  net.output(net.unary(OperationCode::RELU, rows));
  check_gathered(net, {OperationCode::RELU, OperationCode::GATHER, OperationCode::RELU});
}

TEST_CASE("gather_rows: windows to a picture that is read in NCHW") {
  Net net;
  net.output(net.max_pool(picture_of_windows(net, net.unary(OperationCode::RELU, net.input({24, kChannels})))));
  check_gathered(net, {OperationCode::RELU, OperationCode::GATHER, OperationCode::RESHAPE, OperationCode::TRANSPOSE,
                       OperationCode::MAX_POOL_2D});
}

TEST_CASE("gather_rows: two TRANSPOSEs that cut rows stay") {
  Net net;
  const OperandId parts = net.transpose(net.reshape(net.input({24, kChannels}), {2, 12, 2, 4}), {0, 2, 1, 3});
  net.output(net.unary(OperationCode::RELU, net.transpose(net.reshape(parts, {4, 4, 3, 4}), {1, 3, 0, 2})));
  gather_rows(net.model, 3);
  CHECK(testing::count(net.model, OperationCode::GATHER) == 0);
}

TEST_CASE("gather_rows: windows of the same rows follow, others don't") {
  for (const int64_t channels : {kChannels, 2 * kChannels}) {
    Net net;
    const OperandId picture = net.input({1, 4, 6, kChannels});
    net.output(net.fully_connected(shifted_windows(net, picture), 4));
    const OperandId rows = net.unary(OperationCode::RELU, net.reshape(picture, {24 * kChannels / channels, channels}));
    const OperandId windows = net.transpose(net.reshape(rows, {2, 2, 3, 16}), {0, 2, 1, 3});
    net.output(net.fully_connected(net.reshape(windows, {24 * kChannels / channels, channels}), 4));
    gather_rows(net.model, 3);
    CHECK(testing::count(net.model, OperationCode::GATHER) == (channels == kChannels ? 2 : 1));
  }
}

TEST_CASE("gather_rows: pictures and short ways stay") {
  Net net;
  const OperandId picture = net.input({1, 4, 6, kChannels});
  net.output(net.unary(OperationCode::RELU, rolled(net, rolled(net, picture, 1), 2)));
  const std::vector<OperationCode> before = codes(net.model);
  check_gathered(net, before);
  Net other;
  const OperandId once = other.reshape(rolled(other, other.input({1, 4, 6, kChannels}), 1), {24, kChannels});
  other.output(other.fully_connected(once, 4));
  check_gathered(other, {OperationCode::STRIDED_SLICE, OperationCode::STRIDED_SLICE, OperationCode::CONCATENATION,
                         OperationCode::FULLY_CONNECTED});
}

TEST_CASE("gather_rows: a way that cuts rows stays, and so does any at feature level 2") {
  Net net;
  const OperandId x = net.input({1, 4, 6, kChannels});
  const OperandId moved = rolled(net, rolled(net, x, 3), 2);
  net.output(net.fully_connected(net.reshape(moved, {24, kChannels}), 4));
  std::vector<OperationCode> before = codes(net.model);
  before.erase(before.end() - 2);  // FULLY_CONNECTED reads through the RESHAPE
  check_gathered(net, before);
  Net other;
  other.output(other.fully_connected(shifted_windows(other, other.input({1, 4, 6, kChannels})), 4));
  std::vector<OperationCode> all = codes(other.model);
  all.erase(all.end() - 2);
  check_gathered(other, all, 2);
}
