// SPDX-License-Identifier: BSD-3-Clause
// Tests which operations run in NHWC and where TRANSPOSEs appear, and compares the results.
#include "lib/nnapi/passes/choose_layout.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/passes/random_model.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::check_choose_layout;
using testing::codes;
using testing::count;
using testing::Net;
using testing::the;

namespace {

using Codes = std::vector<OperationCode>;

bool has_layout_flag(const Model& model, const Operation& operation) {
  for (const OperandId id : operation.inputs) {
    if (model.at(id).type == OperandCode::BOOL) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("choose_layout: without an NHWC input nothing changes") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 4}), 4);
  net.output(y);
  choose_layout(net.model);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D});
  CHECK(net.dims(y) == Dims{1, 4, 4, 4});
  CHECK(has_layout_flag(net.model, net.model.operations[0]));
  CHECK_FALSE(net.model.outputs[0].nhwc);
}

TEST_CASE("choose_layout: a convolutional net has no TRANSPOSE, and its output is marked NHWC") {
  Net net;
  OperandId y = net.unary(OperationCode::RELU, net.conv(net.input({2, 3, 8, 6}, true), 4));
  const OperandId shortcut = y;
  y = net.unary(OperationCode::RELU6, net.depthwise(y));
  y = net.binary(OperationCode::ADD, net.conv(y, 4), shortcut);
  net.output(net.max_pool(y));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
  CHECK(count(net.model, OperationCode::RESHAPE) == 0);
  CHECK(net.model.outputs[0].nhwc);
  CHECK(net.dims(net.model.outputs[0].operand) == Dims{2, 4, 3, 4});
}

TEST_CASE("choose_layout: the layout flag is dropped, and kept as NHWC before a dilation") {
  Net net;
  const OperandId plain = net.conv(net.input({1, 3, 8, 6}, true), 4);
  net.output(net.conv(plain, 4, 2));
  check_choose_layout(net);
  const Operation& first = net.model.operations[0];
  const Operation& dilated = net.model.operations[1];
  CHECK(first.inputs.size() == 10);
  CHECK_FALSE(has_layout_flag(net.model, first));
  REQUIRE(dilated.inputs.size() == 13);
  CHECK_FALSE(std::get<bool>(net.model.at(dilated.inputs[10]).value));
  CHECK(testing::ints(net.model, dilated, 11) == std::vector<int64_t>{2});
}

TEST_CASE("choose_layout: a required layout flag is kept") {
  Net net;
  const OperandId x = net.input({1, 3, 4, 4}, true);
  net.output(net.builder.add(OperationCode::RESIZE_NEAREST_NEIGHBOR,
                             {x, net.builder.int32(8), net.builder.int32(8), net.builder.boolean(true)},
                             testing::float_type({1, 3, 8, 8})));
  choose_layout(net.model);
  const Operation& resize = net.model.operations[0];
  REQUIRE(resize.inputs.size() == 4);
  CHECK_FALSE(std::get<bool>(net.model.at(resize.inputs[3]).value));
  CHECK(net.dims(resize.outputs[0]) == Dims{1, 8, 8, 3});
}

TEST_CASE("choose_layout: elementwise of NHWC and an NCHW variable takes one TRANSPOSE") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 8, 6}, true), 3);
  const OperandId other = net.input({1, 3, 8, 6});
  const OperandId sum = net.binary(OperationCode::ADD, y, other);
  net.output(net.binary(OperationCode::MUL, sum, other));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  CHECK(testing::ints(net.model, the(net.model, OperationCode::TRANSPOSE), 1) == std::vector<int64_t>{0, 2, 3, 1});
  CHECK(net.model.outputs[0].nhwc);
}

TEST_CASE("choose_layout: elementwise with a variable of lower rank takes it along into NHWC") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 6}, true), 4);
  net.output(net.binary(OperationCode::MUL, y, net.input({4, 1, 1})));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
  CHECK(count(net.model, OperationCode::RESHAPE) == 1);
  CHECK(net.model.outputs[0].nhwc);
}

TEST_CASE("choose_layout: elementwise with a single value of lower rank stays in NHWC") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 6}, true), 4);
  net.output(net.binary(OperationCode::MUL, y, net.input({1})));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
}

TEST_CASE("choose_layout: constants of every rank are permuted") {
  const std::vector<std::vector<int64_t>> shapes = {{2, 4, 5, 6}, {1, 4, 1, 1}, {4, 1, 1}, {4, 5, 6}, {5, 6}, {6}, {1}};
  for (const auto& shape : shapes) {
    Net net;
    const OperandId y = net.conv(net.input({2, 3, 5, 6}, true), 4);
    net.output(net.binary(OperationCode::ADD, y, net.weights(shape)));
    check_choose_layout(net);
    CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::ADD});
  }
}

TEST_CASE("choose_layout: flattening before FULLY_CONNECTED permutes its weights") {
  Net net;
  const OperandId flat = net.reshape(net.conv(net.input({2, 3, 4, 6}, true), 5), {2, 120});
  net.output(net.fully_connected(flat, 7));
  net.output(net.fully_connected(flat, 3));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
  CHECK(count(net.model, OperationCode::FULLY_CONNECTED) == 2);
}

TEST_CASE("choose_layout: flattening for another reader takes a TRANSPOSE") {
  SECTION("an operation") {
    Net net;
    const OperandId flat = net.reshape(net.conv(net.input({2, 3, 4, 6}, true), 5), {2, 120});
    net.output(net.fully_connected(flat, 7));
    net.output(net.unary(OperationCode::RELU, flat));
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  }
  SECTION("an output") {
    Net net;
    const OperandId flat = net.reshape(net.conv(net.input({2, 3, 4, 6}, true), 5), {2, 120});
    net.output(net.fully_connected(flat, 7));
    net.output(flat);
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  }
  SECTION("weights that are computed") {
    Net net;
    const OperandId flat = net.reshape(net.conv(net.input({2, 3, 4, 6}, true), 5), {2, 120});
    net.output(net.fully_connected(flat, 7));
    net.model.operations.back().inputs[1] = net.input({7, 120});
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  }
  SECTION("another shape") {
    Net net;
    net.output(net.reshape(net.conv(net.input({2, 3, 4, 6}, true), 5), {4, 60}));
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  }
}

TEST_CASE("choose_layout: where H and W are 1 flattening is free") {
  Net net;
  const OperandId pooled = net.mean(net.conv(net.input({2, 3, 4, 6}, true), 5), {2, 3}, true);
  net.output(net.reshape(pooled, {2, 5}));
  check_choose_layout(net);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::MEAN, OperationCode::RESHAPE});
}

TEST_CASE("choose_layout: where H and W are 1, or C is 1, a move of axes is a RESHAPE") {
  for (const Dims& dims : {Dims{2, 5, 1, 1}, Dims{2, 1, 4, 6}}) {
    Net net;
    const OperandId y = net.unary(OperationCode::RELU, net.input(dims, true));
    net.output(net.binary(OperationCode::ADD, y, net.input({dims[1], dims[2], dims[3]})));
    check_choose_layout(net);
    CHECK(codes(net.model) == Codes{OperationCode::RELU, OperationCode::RESHAPE, OperationCode::ADD});
  }
}

TEST_CASE("choose_layout: the model's own permutation to NHWC cancels") {
  Net net;
  const OperandId y = net.transpose(net.conv(net.input({2, 3, 4, 6}, true), 5), {0, 2, 3, 1});
  net.output(net.softmax(y, 3));
  check_choose_layout(net);
  CHECK(codes(net.model) == Codes{OperationCode::CONV_2D, OperationCode::SOFTMAX});
  CHECK_FALSE(net.model.outputs[0].nhwc);
}

TEST_CASE("choose_layout: the model's own permutation to NHWC cancels, of a single pixel too") {
  Net net;
  const OperandId pooled = net.mean(net.conv(net.input({1, 3, 4, 6}, true), 5), {2, 3}, true);
  const OperandId mean = net.mean(net.transpose(pooled, {0, 2, 3, 1}), {3}, true);
  net.output(net.binary(OperationCode::ADD, net.transpose(pooled, {0, 2, 3, 1}), mean));
  check_choose_layout(net);
  merge_moves(net.model);
  compact(net.model);
  CHECK(codes(net.model) ==
        Codes{OperationCode::CONV_2D, OperationCode::MEAN, OperationCode::MEAN, OperationCode::ADD});
}

TEST_CASE("choose_layout: other permutations of the model are one TRANSPOSE, or a RESHAPE") {
  Net net;
  const OperandId y = net.conv(net.input({2, 3, 4, 6}, true), 5);
  net.output(net.transpose(y, {0, 1, 3, 2}));
  net.output(net.transpose(y, {3, 1, 0, 2}));
  net.output(net.transpose(net.mean(y, {1}, true), {1, 0, 2, 3}));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 2);
  CHECK(count(net.model, OperationCode::RESHAPE) == 1);
}

TEST_CASE("choose_layout: an output that became an input is copied") {
  Net net;
  net.output(net.transpose(net.input({2, 3, 4, 6}, true), {0, 2, 3, 1}));
  check_choose_layout(net);
  REQUIRE(codes(net.model) == Codes{OperationCode::RESHAPE});
  CHECK(net.model.outputs[0].operand != net.model.inputs[0].operand);
}

TEST_CASE("choose_layout: an output that became another output is copied") {
  Net net;
  const OperandId y = net.conv(net.input({2, 3, 4, 6}, true), 5);
  net.output(y);
  net.output(net.transpose(y, {0, 2, 3, 1}));
  check_choose_layout(net);
  CHECK(net.model.outputs[0].operand != net.model.outputs[1].operand);
  CHECK(net.model.outputs[0].nhwc);
  CHECK_FALSE(net.model.outputs[1].nhwc);
}

TEST_CASE("choose_layout: an operation on rank 4 without a layout takes PyTorch's order, once for all readers") {
  Net net;
  const OperandId y = net.conv(net.input({1, 3, 4, 6}, true), 5);
  net.output(net.reshape(y, {5, 24}));
  net.output(net.reshape(y, {10, 12}));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
}

TEST_CASE("choose_layout: several inputs, each in its own order") {
  Net net;
  const OperandId a = net.input({1, 3, 4, 6}, true);
  const OperandId b = net.input({1, 3, 4, 6});
  net.output(net.conv(a, 2));
  net.output(net.unary(OperationCode::RELU, b));
  check_choose_layout(net);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
  CHECK(net.model.outputs[0].nhwc);
  CHECK_FALSE(net.model.outputs[1].nhwc);
}

TEST_CASE("choose_layout: flexible sizes move with their axes") {
  Net net;
  const Dim height = Dim::of_input(0, 2);
  const Dim width = Dim::of_input(0, 3);
  net.output(net.max_pool(net.conv(net.input({1, 3, height, width}, true), 5)));
  choose_layout(net.model);
  CHECK(net.dims(net.model.inputs[0].operand) == Dims{1, height, width, 3});
  CHECK(net.dims(net.model.outputs[0].operand) == Dims{1, height.floor_div(2), width.floor_div(2), 5});
}

TEST_CASE("choose_layout: moves that are a RESHAPE in NHWC keep what follows in NHWC") {
  Net net;
  const OperandId planes = net.conv(net.input({3, 2, 4, 5}, true), 6);                        // [3, 6, 4, 5]
  const OperandId columns = net.transpose(net.reshape(planes, {1, 3, 6, 20}), {0, 2, 1, 3});  // [1, 6, 3, 20]
  const OperandId part = net.strided_slice(columns, {0, 0, 0, 0}, {1, 6, 3, 20}, {1, 1, 2, 1});
  net.output(net.conv(part, 4));
  check_choose_layout(net);
  merge_moves(net.model);
  compact(net.model);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
}
