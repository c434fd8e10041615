// SPDX-License-Identifier: BSD-3-Clause
// A number that multiplies a tensor goes into the layers behind it: which ways it takes, and when it must stay.
#include "lib/nnapi/passes/fold_scale.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

OperandId times(Net& net, OperandId x, float factor = 1.7f) {
  return net.binary(OperationCode::MUL, x, net.builder.tensor(Constant::of_floats({factor}, {1})));
}

// Checks that the pass leaves these operations and what they compute.
void check_scale_folds_to(Net& net, OperandId output, const std::vector<OperationCode>& left) {
  net.output(output);
  testing::check_keeps_results(net, fold_scale);
  CHECK(codes(net.model) == left);
}

}  // namespace

TEST_CASE("fold_scale: into the convolution that reads the product, with padding too") {
  Net net;
  check_scale_folds_to(net, net.conv(times(net, net.input({1, 3, 6, 5})), 4), {OperationCode::CONV_2D});
}

TEST_CASE("fold_scale: into a depthwise convolution") {
  Net net;
  check_scale_folds_to(net, net.depthwise(times(net, net.input({1, 3, 6, 5})), 2), {OperationCode::DEPTHWISE_CONV_2D});
}

TEST_CASE("fold_scale: the number may come first, and be negative") {
  Net net;
  const OperandId number = net.builder.tensor(Constant::of_floats({-3}, {1}));
  check_scale_folds_to(net, net.fully_connected(net.binary(OperationCode::MUL, number, net.input({2, 6})), 5),
                       {OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fold_scale: into both layers of a squeeze-and-excitation block") {
  Net net;
  const OperandId x = times(net, net.input({1, 4, 6, 5}));
  const OperandId gate = net.unary(OperationCode::RELU, net.conv(net.mean(x, {2, 3}, true), 4));
  check_scale_folds_to(
      net, net.conv(net.binary(OperationCode::MUL, gate, x), 3),
      {OperationCode::MEAN, OperationCode::CONV_2D, OperationCode::RELU, OperationCode::MUL, OperationCode::CONV_2D});
}

TEST_CASE("fold_scale: across moves and products with constants, two numbers in a row") {
  Net net;
  const OperandId x = net.reshape(times(net, net.input({2, 3, 4})), {2, 12});
  const OperandId product = net.binary(OperationCode::MUL, times(net, x, 0.3f), net.weights({12}));
  check_scale_folds_to(net, net.fully_connected(product, 5),
                       {OperationCode::RESHAPE, OperationCode::MUL, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fold_scale: a product that another operation reads stays") {
  Net net;
  const OperandId x = times(net, net.input({1, 3, 6, 5}));
  const OperandId y = net.conv(x, 3);
  check_scale_folds_to(net, net.binary(OperationCode::ADD, x, y),
                       {OperationCode::MUL, OperationCode::CONV_2D, OperationCode::ADD});
}

TEST_CASE("fold_scale: an output of the model stays") {
  Net net;
  const OperandId x = times(net, net.input({1, 3, 6, 5}));
  net.output(x);
  check_scale_folds_to(net, net.conv(x, 3), {OperationCode::MUL, OperationCode::CONV_2D});
}

TEST_CASE("fold_scale: a square has the number twice") {
  Net net;
  const OperandId x = times(net, net.input({1, 3, 6, 5}));
  check_scale_folds_to(net, net.conv(net.binary(OperationCode::MUL, x, x), 3),
                       {OperationCode::MUL, OperationCode::MUL, OperationCode::CONV_2D});
}

TEST_CASE("fold_scale: a product of two scaled tensors has the number twice") {
  Net net;
  const OperandId x = times(net, net.input({1, 4, 6, 5}));
  check_scale_folds_to(net, net.conv(net.binary(OperationCode::MUL, net.mean(x, {2, 3}, true), x), 3),
                       {OperationCode::MUL, OperationCode::MEAN, OperationCode::MUL, OperationCode::CONV_2D});
}

TEST_CASE("fold_scale: weights that another layer reads stay") {
  Net net;
  const OperandId x = net.input({2, 6});
  const OperandId y = net.fully_connected(times(net, x), 6);
  const Operation layer = net.model.operations.back();
  const OperandId other = net.fully_connected(x, 6);
  net.model.operations.back().inputs[1] = layer.inputs[1];
  check_scale_folds_to(
      net, net.binary(OperationCode::ADD, y, other),
      {OperationCode::MUL, OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED, OperationCode::ADD});
}

TEST_CASE("fold_scale: numbers that could take weights out of range stay") {
  for (const float factor : {0.0f, 1e9f, 1e-9f}) {
    Net net;
    check_scale_folds_to(net, net.conv(times(net, net.input({1, 3, 6, 5}), factor), 4),
                         {OperationCode::MUL, OperationCode::CONV_2D});
  }
}

TEST_CASE("fold_scale: a number that widens its input stays") {
  Net net;
  const OperandId number = net.builder.tensor(Constant::of_floats({2}, {1, 1, 1, 1}));
  const OperandId wide = net.binary(OperationCode::MUL, net.input({3, 6, 5}), number);
  check_scale_folds_to(net, net.conv(wide, 4), {OperationCode::MUL, OperationCode::CONV_2D});
}

// Each number alone would be followed to the end.
TEST_CASE("fold_scale: a long chain of numbers takes no deep stack, and its end is folded") {
  constexpr size_t kLength = 20000;
  Net net;
  OperandId x = net.input({1, 2});
  for (size_t i = 0; i < kLength; ++i) x = times(net, x, 1.0001f);
  net.output(net.fully_connected(x, 3));
  fold_scale(net.model);
  const size_t left = net.model.operations.size();
  CHECK(left < kLength);
  CHECK(left > kLength - 100);
}
