// SPDX-License-Identifier: BSD-3-Clause
// Folding constant MUL and ADD into weights: the numbers, and when it must not happen.
#include "lib/nnapi/passes/fold_affine.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

// y * scale + shift by constants of `shape`.
OperandId affine(Net& net, OperandId y, const std::vector<int64_t>& shape) {
  const OperandId scaled = net.binary(OperationCode::MUL, y, net.weights(shape));
  return net.binary(OperationCode::ADD, net.weights(shape), scaled);  // the constant may come first
}

// Checks that folding leaves `operations` operations and what they compute.
void check_folds_to(Net& net, OperandId output, size_t operations) {
  net.output(output);
  testing::check_keeps_results(net, fold_affine);
  CHECK(net.model.operations.size() == operations);
}

}  // namespace

TEST_CASE("fold_affine: batch norm after CONV_2D") {
  Net net;
  check_folds_to(net, affine(net, net.conv(net.input({2, 3, 5, 6}), 4), {4, 1, 1}), 1);
}

TEST_CASE("fold_affine: rank 4 constants of size [1, C, 1, 1]") {
  Net net;
  check_folds_to(net, affine(net, net.conv(net.input({2, 3, 5, 6}), 4), {1, 4, 1, 1}), 1);
}

TEST_CASE("fold_affine: DEPTHWISE_CONV_2D has its output channels on the last axis") {
  Net net;
  check_folds_to(net, affine(net, net.depthwise(net.input({1, 3, 5, 6}), 2), {6, 1, 1}), 1);
}

TEST_CASE("fold_affine: FULLY_CONNECTED") {
  Net net;
  check_folds_to(net, affine(net, net.fully_connected(net.input({2, 6}), 5), {5}), 1);
}

TEST_CASE("fold_affine: one number for all channels") {
  Net net;
  check_folds_to(net, affine(net, net.conv(net.input({1, 3, 5, 6}), 4), {1}), 1);
}

TEST_CASE("fold_affine: the order of MUL and ADD is kept") {
  Net net;
  OperandId y = net.conv(net.input({1, 3, 5, 6}), 4);
  y = net.binary(OperationCode::ADD, y, net.weights({4, 1, 1}));
  y = net.binary(OperationCode::MUL, y, net.weights({4, 1, 1}));
  y = net.binary(OperationCode::ADD, y, net.weights({4, 1, 1}));
  check_folds_to(net, y, 1);
}

TEST_CASE("fold_affine: the folded numbers are per-channel products and sums") {
  Net net;
  const OperandId x = net.input({1, 2});
  const OperandId filter = net.builder.tensor(Constant::of_floats({1, 2, 3, 4}, {2, 2}));
  const OperandId bias = net.builder.tensor(Constant::of_floats({5, 6}));
  OperandId y = net.builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, net.builder.int32(0)},
                                testing::float_type({1, 2}));
  y = net.binary(OperationCode::MUL, y, net.builder.tensor(Constant::of_floats({10, 100})));
  y = net.binary(OperationCode::ADD, y, net.builder.tensor(Constant::of_floats({1, 2})));
  net.output(y);
  fold_affine(net.model);
  const Operation& folded = testing::the(net.model, OperationCode::FULLY_CONNECTED);
  CHECK(testing::floats(net.model, folded, 1) == std::vector<float>{10, 20, 300, 400});
  CHECK(testing::floats(net.model, folded, 2) == std::vector<float>{51, 602});
  CHECK(folded.outputs[0] == y);
}

TEST_CASE("fold_affine: weights shared with another operation stay as they were there") {
  Net net;
  const OperandId x = net.input({1, 4});
  const OperandId filter = net.weights({4, 4});
  const OperandId bias = net.weights({4});
  const auto linear = [&](OperandId from) {
    return net.builder.add(OperationCode::FULLY_CONNECTED, {from, filter, bias, net.builder.int32(0)},
                           testing::float_type({1, 4}));
  };
  check_folds_to(net, linear(affine(net, linear(x), {4})), 2);
}

TEST_CASE("fold_affine: not with a second reader") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  const OperandId scaled = net.binary(OperationCode::MUL, y, net.weights({4, 1, 1}));
  check_folds_to(net, net.binary(OperationCode::ADD, y, scaled), 3);
}

TEST_CASE("fold_affine: not when the intermediate is an output") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  net.output(y);
  check_folds_to(net, net.binary(OperationCode::MUL, y, net.weights({4, 1, 1})), 2);
}

TEST_CASE("fold_affine: not when the constant varies over another axis, or adds axes") {
  // H and W, with as many entries as channels; all elements; a batch dimension.
  const std::vector<std::vector<int64_t>> shapes = {{4, 1},       {4},          {4, 4, 4},
                                                    {2, 1, 1, 1}, {2, 4, 1, 1}, {2, 1, 4, 1, 1}};
  for (const auto& shape : shapes) {
    Net net;
    const OperandId y = net.conv(net.input({shape[0] == 2 ? 2 : 1, 3, 4, 4}), 4);
    net.output(net.binary(OperationCode::MUL, y, net.weights(shape)));
    fold_affine(net.model);
    CHECK(net.model.operations.size() == 2);
  }
}

TEST_CASE("fold_affine: not when broadcasting changes the shape") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 1);
  check_folds_to(net, net.binary(OperationCode::MUL, y, net.weights({4, 1, 1})), 2);
}

TEST_CASE("fold_affine: not with another tensor") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  check_folds_to(net, net.binary(OperationCode::MUL, y, net.input({1, 4, 4, 4})), 2);
}

TEST_CASE("fold_affine: not when filter or bias are computed") {
  for (const size_t argument : {size_t{1}, size_t{2}}) {
    Net net;
    const OperandId y = net.fully_connected(net.input({2, 6}), 5);
    net.model.operations[0].inputs[argument] = argument == 1 ? net.input({5, 6}) : net.input({5});
    net.model.inputs.back().argument = 1;
    net.output(net.binary(OperationCode::MUL, y, net.weights({5})));
    fold_affine(net.model);
    CHECK(net.model.operations.size() == 2);
  }
}

TEST_CASE("fold_affine: not an operation with an activation, and none after it") {
  Net net;
  OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  y = net.binary(OperationCode::MUL, y, net.weights({4, 1, 1}));
  net.model.operations.back().inputs[2] = net.builder.int32(static_cast<int64_t>(FuseCode::RELU));
  y = net.binary(OperationCode::ADD, y, net.weights({4, 1, 1}));
  check_folds_to(net, y, 3);
}

TEST_CASE("fold_affine: not after operations without weights") {
  Net net;
  const OperandId y = net.max_pool(net.input({1, 4, 4, 4}));
  check_folds_to(net, affine(net, y, {4, 1, 1}), 3);
}

TEST_CASE("fold_affine: not quantised operations") {
  Net net;
  net.conv(net.input({1, 3, 4, 4}), 4);
  Operation& conv = net.model.operations[0];
  for (const OperandId id : {conv.inputs[0], conv.inputs[1], conv.outputs[0]}) {
    net.model.at(id).type = OperandCode::TENSOR_QUANT8_ASYMM;
  }
  net.output(net.binary(OperationCode::MUL, conv.outputs[0], net.weights({4, 1, 1})));
  fold_affine(net.model);
  CHECK(net.model.operations.size() == 2);
}

namespace {

// Queries, keys and values of one layer; the queries are multiplied by a number behind their heads.
struct Attention {
  explicit Attention(Net& net, const std::vector<int64_t>& factors) {
    const OperandId all = net.reshape(net.fully_connected(net.input({5, 6}), 24), {1, 5, 24});
    parts = net.builder.add(OperationCode::SPLIT, {all, net.builder.int32(2), net.builder.int32(3)},
                            std::vector<Operand>(3, testing::float_type({1, 5, 8})));
    const OperandId heads = net.transpose(net.reshape(parts[1], {5, 2, 4}), {1, 0, 2});
    product = net.binary(OperationCode::MUL, heads, net.weights(factors));
  }
  std::vector<OperandId> parts;
  OperandId product;
};

}  // namespace

TEST_CASE("fold_affine: a number that multiplies a part of a layer's results") {
  Net net;
  const Attention attention(net, {1});
  net.output(attention.parts[0]);
  net.output(attention.parts[2]);
  check_folds_to(net, attention.product, 5);
}

TEST_CASE("fold_affine: several numbers, or a part that is read twice, stay") {
  Net net;
  check_folds_to(net, Attention(net, {4}).product, 6);
  Net other;
  const Attention attention(other, {1});
  other.output(attention.parts[1]);
  check_folds_to(other, attention.product, 6);
}

TEST_CASE("fold_affine: a part whose size is known only at run time stays") {
  Net net;
  const Attention attention(net, {1});
  for (const OperandId part : attention.parts) net.model.at(part).dims.back() = Dim::of_input(0, 1);
  net.output(attention.product);
  fold_affine(net.model);
  CHECK(net.model.operations.size() == 6);
}
