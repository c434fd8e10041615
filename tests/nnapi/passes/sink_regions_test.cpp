// SPDX-License-Identifier: BSD-3-Clause
// RESHAPE and TRANSPOSE move below regions of elementwise operations in which several operations read one tensor.
#include "lib/nnapi/passes/sink_regions.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/sink_moves.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::count;
using testing::Net;

namespace {

// x, read by two operations and multiplied by what one of them gives, as in SiLU.
OperandId gated(Net& net, OperandId x) {
  return net.binary(OperationCode::MUL, x, net.unary(OperationCode::RELU6, x));
}

void sink(Net& net) {
  testing::check_keeps_results(net, [](Model& model) {
    sink_moves(model);
    compact(model);
  });
}

}  // namespace

TEST_CASE("sink_regions: between the two RESHAPEs of one-dimensional convolutions") {
  Net net;
  const OperandId row = net.reshape(net.conv(net.input({1, 3, 1, 6}), 4), {1, 4, 6});
  net.output(net.conv(net.reshape(gated(net, row), {1, 4, 1, 6}), 2));
  sink(net);
  CHECK(codes(net.model) == std::vector<OperationCode>{OperationCode::CONV_2D, OperationCode::RELU6, OperationCode::MUL,
                                                       OperationCode::CONV_2D});
}

TEST_CASE("sink_regions: constants take the axes along, below TRANSPOSEs too") {
  Net net;
  const OperandId last = net.transpose(net.conv(net.input({1, 3, 4, 5}), 6), {0, 2, 3, 1});
  const OperandId scaled = net.binary(OperationCode::MUL, gated(net, last), net.weights({6}));
  const OperandId sum = net.binary(OperationCode::ADD, scaled, last);
  net.output(net.conv(net.transpose(sum, {0, 3, 1, 2}), 2));
  sink(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
}

TEST_CASE("sink_regions: two tensors that are moved alike") {
  Net net;
  const OperandId x = net.reshape(net.conv(net.input({1, 3, 1, 6}), 4), {1, 4, 6});
  const OperandId y = net.reshape(net.conv(net.input({1, 2, 1, 6}), 4), {1, 4, 6});
  const OperandId sum = net.binary(OperationCode::ADD, gated(net, x), gated(net, y));
  net.output(net.conv(net.reshape(sum, {1, 4, 1, 6}), 2));
  sink(net);
  CHECK(count(net.model, OperationCode::RESHAPE) == 0);
}

TEST_CASE("sink_regions: a region stays where no move would go") {
  Net read_outside;  // the result needs a move, as many as before
  const OperandId x = read_outside.reshape(read_outside.conv(read_outside.input({1, 3, 1, 6}), 4), {1, 4, 6});
  read_outside.output(read_outside.softmax(gated(read_outside, x), 1));
  sink(read_outside);
  CHECK(codes(read_outside.model)[1] == OperationCode::RESHAPE);

  Net broadcast;  // another tensor has other sizes
  const OperandId row = broadcast.reshape(broadcast.conv(broadcast.input({1, 3, 1, 6}), 4), {1, 4, 6});
  const OperandId other = broadcast.input({1, 4, 1});
  const OperandId product = broadcast.binary(OperationCode::MUL, row, other);
  const OperandId sum = broadcast.binary(OperationCode::ADD, product, row);
  broadcast.output(broadcast.conv(broadcast.reshape(sum, {1, 4, 1, 6}), 2));
  sink(broadcast);
  CHECK(count(broadcast.model, OperationCode::RESHAPE) == 2);

  Net high;  // no elementwise operation takes five axes
  const OperandId five = high.input({1, 2, 3, 2, 2});
  const OperandId flat = high.reshape(five, {2, 3, 4});
  high.output(high.reshape(gated(high, flat), {1, 2, 3, 2, 2}));
  CHECK_FALSE(sink_regions(high.model));
}

TEST_CASE("sink_regions: a result that is one of the model's stays as it is") {
  Net net;
  const OperandId row = net.reshape(net.conv(net.input({1, 3, 1, 6}), 4), {1, 4, 6});
  const OperandId result = gated(net, row);
  net.output(result);
  net.output(net.conv(net.reshape(result, {1, 4, 1, 6}), 2));
  sink(net);
  CHECK(net.dims(net.model.outputs[0].operand) == Dims{1, 4, 6});
  CHECK(count(net.model, OperationCode::RESHAPE) == 1);
}

TEST_CASE("sink_regions: random regions keep their results") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Net net;
    net.random.seed(seed);
    std::vector<OperandId> images{net.conv(net.input({1, 3, 2, 3}), 4)};
    std::vector<OperandId> moved;
    const auto any = [&](const std::vector<OperandId>& list) { return list[net.random() % list.size()]; };
    for (int i = 0; i < 20; ++i) {
      switch (net.random() % 6) {
        case 0:
          moved.push_back(net.reshape(any(images), {1, 4, 6}));
          break;
        case 1:
          if (!moved.empty()) images.push_back(net.reshape(any(moved), {1, 4, 2, 3}));
          break;
        case 2:
          if (!moved.empty()) moved.push_back(net.binary(OperationCode::ADD, any(moved), any(moved)));
          break;
        case 3:
          if (!moved.empty()) moved.push_back(net.binary(OperationCode::MUL, any(moved), net.weights({4, 1})));
          break;
        case 4:
          if (!moved.empty()) moved.push_back(net.unary(OperationCode::RELU6, any(moved)));
          break;
        default:
          images.push_back(net.binary(OperationCode::MUL, any(images), any(images)));
      }
    }
    net.output(net.unary(OperationCode::RELU, images.back()));
    if (!moved.empty()) net.output(net.softmax(moved.back(), 2));
    CAPTURE(seed);
    sink(net);
  }
}
