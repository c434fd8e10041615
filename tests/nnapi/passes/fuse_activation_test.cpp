// SPDX-License-Identifier: BSD-3-Clause
// Fusing RELU, RELU1 and RELU6 into the operation before.
#include "lib/nnapi/passes/fuse_activation.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;
using testing::Tensor;

namespace {

using Codes = std::vector<OperationCode>;

// Runs the pass and checks that results stay.
void fuse(Net& net) {
  Tensor argument(fixed_values(net.dims(net.model.inputs[0].operand)));
  for (float& value : argument.values) value = 5 * testing::random_values(net.random, 1)[0];
  const std::vector<Tensor> before = testing::run(net.model, {argument});
  fuse_activation(net.model);
  const std::vector<Tensor> after = testing::run(net.model, {argument});
  for (size_t i = 0; i < before.size(); ++i) CHECK(testing::close(before[i], after[i]));
}

}  // namespace

TEST_CASE("fuse_activation: each activation into a convolution") {
  const std::vector<std::pair<OperationCode, FuseCode>> cases = {{OperationCode::RELU, FuseCode::RELU},
                                                                 {OperationCode::RELU1, FuseCode::RELU1},
                                                                 {OperationCode::RELU6, FuseCode::RELU6}};
  for (const auto& [operation, fuse_code] : cases) {
    Net net;
    const OperandId y = net.unary(operation, net.conv(net.input({1, 3, 4, 4}), 4));
    net.output(y);
    fuse(net);
    REQUIRE(codes(net.model) == Codes{OperationCode::CONV_2D});
    CHECK(testing::ints(net.model, net.model.operations[0], 9) ==
          std::vector<int64_t>{static_cast<int64_t>(fuse_code)});
    CHECK(net.model.operations[0].outputs[0] == y);
  }
}

TEST_CASE("fuse_activation: into every operation that has the argument") {
  Net net;
  OperandId y = net.unary(OperationCode::RELU, net.depthwise(net.input({1, 4, 4, 4})));
  y = net.unary(OperationCode::RELU6, net.max_pool(y));
  y = net.unary(OperationCode::RELU1, net.binary(OperationCode::ADD, y, net.weights({4, 1, 1})));
  y = net.unary(OperationCode::RELU, net.binary(OperationCode::SUB, y, net.weights({4, 1, 1})));
  y = net.unary(OperationCode::RELU6, net.fully_connected(net.reshape(y, {1, 16}), 5));
  net.output(y);
  fuse(net);
  CHECK(codes(net.model) == Codes{OperationCode::DEPTHWISE_CONV_2D, OperationCode::MAX_POOL_2D, OperationCode::ADD,
                                  OperationCode::SUB, OperationCode::RESHAPE, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fuse_activation: other uses of the same scalar keep theirs") {
  Net net;
  const OperandId x = net.input({4});
  const OperandId none = net.builder.int32(0);
  const OperandId sum = net.builder.add(OperationCode::ADD, {x, x, none}, testing::float_type({4}));
  const OperandId activated = net.unary(OperationCode::RELU, sum);
  net.output(net.builder.add(OperationCode::SUB, {activated, x, none}, testing::float_type({4})));
  fuse(net);
  CHECK(testing::ints(net.model, testing::the(net.model, OperationCode::ADD), 2) == std::vector<int64_t>{1});
  CHECK(testing::ints(net.model, testing::the(net.model, OperationCode::SUB), 2) == std::vector<int64_t>{0});
}

TEST_CASE("fuse_activation: one activation only") {
  Net net;
  const OperandId y = net.unary(OperationCode::RELU, net.conv(net.input({1, 3, 4, 4}), 4));
  net.output(net.unary(OperationCode::RELU1, y));
  fuse(net);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::RELU1});
}

TEST_CASE("fuse_activation: not with a second reader") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  net.output(net.binary(OperationCode::ADD, net.unary(OperationCode::RELU, y), y));
  fuse(net);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::RELU, OperationCode::ADD});
}

TEST_CASE("fuse_activation: not when the intermediate is an output") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  net.output(y);
  net.output(net.unary(OperationCode::RELU, y));
  fuse(net);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::RELU});
}

TEST_CASE("fuse_activation: not into operations without the argument, inputs, or an activation there already") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU, net.input({2, 4}));
  OperandId y = net.unary(OperationCode::RELU, net.reshape(x, {4, 2}));
  y = net.binary(OperationCode::ADD, y, y);
  net.model.operations.back().inputs[2] = net.builder.int32(static_cast<int64_t>(FuseCode::RELU6));
  net.output(net.unary(OperationCode::RELU, y));
  fuse(net);
  CHECK(codes(net.model) == Codes{OperationCode::RELU, OperationCode::RESHAPE, OperationCode::RELU, OperationCode::ADD,
                                  OperationCode::RELU});
}

TEST_CASE("fuse_activation: other unary operations stay") {
  Net net;
  net.output(net.unary(OperationCode::TANH, net.conv(net.input({1, 3, 4, 4}), 4)));
  fuse_activation(net.model);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::TANH});
}

TEST_CASE("fuse_activation: quantised needs equal scale and zero point") {
  const std::vector<std::pair<Operand, size_t>> cases = {{testing::quant_type({4}, 0.5f, 3), 1},
                                                         {testing::quant_type({4}, 0.25f, 3), 2},
                                                         {testing::quant_type({4}, 0.5f, 4), 2}};
  for (const auto& [type, operations] : cases) {
    Net net;
    const OperandId x = net.builder.variable(testing::quant_type({4}, 0.5f, 3));
    const OperandId y =
        net.builder.add(OperationCode::ADD, {x, x, net.builder.int32(0)}, testing::quant_type({4}, 0.5f, 3));
    net.output(net.builder.add(OperationCode::RELU, {y}, type));
    fuse_activation(net.model);
    CHECK(net.model.operations.size() == operations);
  }
}
