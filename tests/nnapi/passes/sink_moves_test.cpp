// SPDX-License-Identifier: BSD-3-Clause
// RESHAPE and TRANSPOSE move below operations that treat all elements alike, and meet others there.
#include "lib/nnapi/passes/sink_moves.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

using Codes = std::vector<OperationCode>;

// The operations after the pass, which keeps the results.
Codes after_pass(Net& net) {
  testing::check_keeps_results(net, [](Model& model) {
    sink_moves(model);
    compact(model);
  });
  return codes(net.model);
}

}  // namespace

TEST_CASE("sink_moves: a TRANSPOSE sinks below an activation and meets the one back") {
  Net net;
  const OperandId moved = net.transpose(net.conv(net.input({1, 3, 4, 5}), 6), {0, 2, 3, 1});
  net.output(net.transpose(net.unary(OperationCode::RELU, moved), {0, 3, 1, 2}));
  CHECK(after_pass(net) == Codes{OperationCode::CONV_2D, OperationCode::RELU});
}

TEST_CASE("sink_moves: a constant that broadcasts is moved the other way") {
  Net net;
  const OperandId moved = net.transpose(net.conv(net.input({1, 3, 4, 5}), 6), {0, 2, 3, 1});
  const OperandId scaled = net.binary(OperationCode::MUL, moved, net.weights({6}));
  net.output(net.transpose(scaled, {0, 3, 1, 2}));
  CHECK(after_pass(net) == Codes{OperationCode::CONV_2D, OperationCode::MUL});
}

TEST_CASE("sink_moves: a TRANSPOSE of other axes sinks below a softmax along the last one") {
  Net net;
  const OperandId moved = net.transpose(net.input({2, 3, 4}), {1, 0, 2});
  net.output(net.transpose(net.softmax(moved, 2), {1, 0, 2}));
  CHECK(after_pass(net) == Codes{OperationCode::SOFTMAX});
}

TEST_CASE("sink_moves: a RESHAPE that joins axes sinks below a constant that has both") {
  Net net;
  const OperandId joined = net.reshape(net.unary(OperationCode::RELU, net.input({2, 3, 4, 5})), {2, 3, 20});
  const OperandId sum = net.binary(OperationCode::ADD, joined, net.weights({2, 1, 20}));
  net.output(net.reshape(sum, {2, 3, 4, 5}));
  CHECK(after_pass(net) == Codes{OperationCode::RELU, OperationCode::ADD});
}

TEST_CASE("sink_moves: RESHAPEs of both factors sink below BATCH_MATMUL") {
  Net net;
  const OperandId left = net.reshape(net.unary(OperationCode::RELU, net.input({2, 3, 4, 5})), {6, 4, 5});
  const OperandId right = net.reshape(net.unary(OperationCode::RELU, net.input({2, 3, 7, 5})), {6, 7, 5});
  const OperandId product =
      net.builder.add(OperationCode::BATCH_MATMUL, {left, right, net.builder.boolean(false), net.builder.boolean(true)},
                      testing::float_type({6, 4, 7}));
  net.output(net.reshape(product, {2, 3, 4, 7}));
  CHECK(after_pass(net) == Codes{OperationCode::RELU, OperationCode::RELU, OperationCode::BATCH_MATMUL});
}

TEST_CASE("sink_moves: RESHAPEs that merge other axes stay before BATCH_MATMUL") {
  Net net;
  const OperandId left = net.reshape(net.unary(OperationCode::RELU, net.input({2, 3, 4, 5})), {6, 4, 5});
  const OperandId right = net.reshape(net.unary(OperationCode::RELU, net.input({3, 2, 7, 5})), {6, 7, 5});
  net.output(net.builder.add(OperationCode::BATCH_MATMUL,
                             {left, right, net.builder.boolean(false), net.builder.boolean(true)},
                             testing::float_type({6, 4, 7})));
  CHECK(testing::count(net.model, OperationCode::RESHAPE) == 2);
  after_pass(net);
  CHECK(testing::count(net.model, OperationCode::RESHAPE) == 2);
}

TEST_CASE("sink_moves: a softmax along the moved axis keeps its TRANSPOSE before it") {
  Net net;
  const OperandId moved = net.transpose(net.input({2, 3, 4}), {0, 2, 1});
  net.output(net.softmax(moved, 2));
  CHECK(after_pass(net) == Codes{OperationCode::TRANSPOSE, OperationCode::SOFTMAX});
}
