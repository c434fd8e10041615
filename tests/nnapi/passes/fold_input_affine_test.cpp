// SPDX-License-Identifier: BSD-3-Clause
// Folding constant MUL and ADD into the weights that read them: the numbers, also at borders, and when it must not
// happen.
#include "lib/nnapi/passes/fold_input_affine.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

// (x * scale - mean) / std by constants of `shape`.
OperandId normalised(Net& net, OperandId x, const std::vector<int64_t>& shape) {
  x = net.binary(OperationCode::MUL, x, net.weights({1}));
  x = net.binary(OperationCode::ADD, net.weights(shape), x);  // the constant may come first
  return net.binary(OperationCode::MUL, x, net.weights(shape));
}

OperandId conv_without_padding(Net& net, OperandId x) {
  const OperandId y = net.conv(x, 4);
  Operation& conv = net.model.operations.back();
  for (size_t i = 3; i < 7; ++i) conv.inputs[i] = net.builder.int32(0);
  Dims& dims = net.model.at(y).dims;
  dims[2] = dims[2] + Dim(-2);
  dims[3] = dims[3] + Dim(-2);
  return y;
}

// Checks that folding leaves these operations and what they compute.
void check_folds_to(Net& net, OperandId output, const std::vector<OperationCode>& left) {
  net.output(output);
  testing::check_keeps_results(net, fold_input_affine);
  CHECK(codes(net.model) == left);
}

constexpr OperationCode kConv = OperationCode::CONV_2D, kAdd = OperationCode::ADD, kMul = OperationCode::MUL;

}  // namespace

TEST_CASE("fold_input_affine: all of it goes into a convolution without padding") {
  Net net;
  check_folds_to(net, conv_without_padding(net, normalised(net, net.input({2, 3, 6, 5}), {1, 3, 1, 1})), {kConv});
}

TEST_CASE("fold_input_affine: one ADD stays before a convolution with padding") {
  Net net;
  check_folds_to(net, net.conv(normalised(net, net.input({2, 3, 6, 5}), {3, 1, 1}), 4), {kAdd, kConv});
}

TEST_CASE("fold_input_affine: a MUL goes into a convolution with padding") {
  Net net;
  const OperandId scaled = net.binary(kMul, net.input({1, 3, 6, 5}), net.weights({1, 3, 1, 1}));
  check_folds_to(net, net.conv(scaled, 4), {kConv});
}

TEST_CASE("fold_input_affine: a single ADD before a convolution with padding stays as it is") {
  Net net;
  const OperandId moved = net.binary(kAdd, net.input({1, 3, 6, 5}), net.weights({1, 3, 1, 1}));
  check_folds_to(net, net.conv(moved, 4), {kAdd, kConv});
}

TEST_CASE("fold_input_affine: channels last before a TRANSPOSE") {
  Net net;
  const OperandId x = normalised(net, net.input({2, 6, 5, 3}), {3});
  check_folds_to(net, net.conv(net.transpose(x, {0, 3, 1, 2}), 4), {kAdd, OperationCode::TRANSPOSE, kConv});
}

TEST_CASE("fold_input_affine: on both sides of a TRANSPOSE") {
  Net net;
  OperandId x = net.binary(kMul, net.input({2, 6, 5, 3}), net.weights({3}));
  x = normalised(net, net.transpose(x, {0, 3, 1, 2}), {3, 1, 1});
  check_folds_to(net, conv_without_padding(net, x), {OperationCode::TRANSPOSE, kConv});
}

TEST_CASE("fold_input_affine: SUB from a constant, and of a constant") {
  Net net;
  OperandId x = net.binary(OperationCode::SUB, net.weights({3, 1, 1}), net.input({1, 3, 6, 5}));
  x = net.binary(OperationCode::SUB, x, net.weights({3, 1, 1}));
  check_folds_to(net, conv_without_padding(net, x), {kConv});
}

TEST_CASE("fold_input_affine: FULLY_CONNECTED") {
  Net net;
  check_folds_to(net, net.fully_connected(normalised(net, net.input({2, 6}), {6}), 5),
                 {OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fold_input_affine: FULLY_CONNECTED of vectors in rank 3, after a RESHAPE") {
  Net net;
  const OperandId x = normalised(net, net.input({2, 4, 6}), {6});
  check_folds_to(net, net.fully_connected(net.reshape(x, {8, 6}), 5),
                 {OperationCode::RESHAPE, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fold_input_affine: a RESHAPE that joins axes keeps constants of one of them") {
  Net net;
  const OperandId x = net.binary(kMul, net.input({2, 3, 4}), net.weights({4}));
  check_folds_to(net, net.fully_connected(net.reshape(x, {2, 12}), 5),
                 {kMul, OperationCode::RESHAPE, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("fold_input_affine: a factor of 0 keeps ADDs before padding") {
  Net net;
  OperandId x = net.binary(kAdd, net.input({1, 3, 6, 5}), net.weights({3, 1, 1}));
  x = net.binary(kMul, x, net.builder.tensor(Constant::of_floats({2, 0, 3}, {3, 1, 1})));
  check_folds_to(net, net.conv(x, 4), {kAdd, kMul, kConv});
}

TEST_CASE("fold_input_affine: a result that another operation reads stays") {
  Net net;
  const OperandId scaled = net.binary(kMul, net.input({1, 3, 6, 5}), net.weights({1, 3, 1, 1}));
  net.output(scaled);
  check_folds_to(net, net.conv(scaled, 4), {kMul, kConv});
}

TEST_CASE("fold_input_affine: constants that vary along other axes stay") {
  Net net;
  const OperandId scaled = net.binary(kMul, net.input({1, 3, 6, 5}), net.weights({1, 3, 1, 5}));
  check_folds_to(net, net.conv(scaled, 4), {kMul, kConv});
}

TEST_CASE("fold_input_affine: an operation that widens its input stays") {
  Net net;
  const OperandId wide = net.binary(kMul, net.input({1, 1, 6, 5}), net.weights({1, 3, 1, 1}));
  check_folds_to(net, net.conv(wide, 4), {kMul, kConv});
}

TEST_CASE("fold_input_affine: several linear layers take the same operations") {
  for (const int layers : {2, 3}) {
    Net net;
    const OperandId x = normalised(net, net.input({4, 7}), {7});
    for (int i = 1; i < layers; ++i) net.output(net.fully_connected(x, i));
    check_folds_to(net, net.fully_connected(x, 5),
                   std::vector<OperationCode>(static_cast<size_t>(layers), OperationCode::FULLY_CONNECTED));
  }
}

TEST_CASE("fold_input_affine: branches with operations of their own before linear layers") {
  Net net;
  const OperandId x = net.binary(kMul, net.input({4, 7}), net.weights({7}));
  net.output(net.fully_connected(net.binary(kAdd, x, net.weights({7})), 2));
  net.output(net.fully_connected(x, 3));
  check_folds_to(net, net.fully_connected(net.binary(kMul, net.weights({1}), x), 5),
                 std::vector<OperationCode>(3, OperationCode::FULLY_CONNECTED));
}

TEST_CASE("fold_input_affine: operations that another one reads beside linear layers stay, once") {
  Net sum;
  const OperandId x = sum.binary(kMul, sum.input({4, 7}), sum.weights({7}));
  sum.output(sum.fully_connected(x, 2));
  sum.output(sum.fully_connected(x, 3));
  check_folds_to(sum, sum.unary(OperationCode::RELU, x),
                 {kMul, OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED, OperationCode::RELU});

  Net output;
  const OperandId y = output.binary(kMul, output.input({4, 7}), output.weights({7}));
  output.output(output.fully_connected(y, 2));
  output.output(output.fully_connected(y, 3));
  check_folds_to(output, y, {kMul, OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED});

  Net square;  // x * x has no constant
  const OperandId z = square.input({4, 7});
  const OperandId product = square.binary(kMul, z, z);
  square.output(square.fully_connected(product, 2));
  check_folds_to(square, square.fully_connected(product, 3),
                 {kMul, OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED});
}
