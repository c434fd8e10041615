// SPDX-License-Identifier: BSD-3-Clause
// The arguments that name axes, in NHWC: axes, lists, pairs, vectors, masks. The results are compared too.
#include <catch2/catch.hpp>

#include "lib/nnapi/passes/choose_layout.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/passes/random_model.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::check_choose_layout;
using testing::count;
using testing::ints;
using testing::Net;
using testing::the;

namespace {

using Ints = std::vector<int64_t>;

OperandId nhwc_value(Net& net) {
  return net.unary(OperationCode::RELU, net.input({2, 3, 4, 5}, true));
}

}  // namespace

TEST_CASE("choose_layout: axes of CONCATENATION and SOFTMAX") {
  const Ints moved = {0, 3, 1, 2};
  for (int64_t axis = -4; axis < 4; ++axis) {
    Net net;
    const OperandId x = nhwc_value(net);
    net.output(net.softmax(net.concatenation({x, x}, axis), axis));
    check_choose_layout(net);
    const int64_t expected = moved[static_cast<size_t>(axis < 0 ? axis + 4 : axis)];
    CHECK(ints(net.model, the(net.model, OperationCode::CONCATENATION), 2) == Ints{expected});
    CHECK(ints(net.model, the(net.model, OperationCode::SOFTMAX), 2) == Ints{expected});
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
  }
}

TEST_CASE("choose_layout: CONCATENATION of NHWC with NCHW and constants") {
  Net net;
  const OperandId x = nhwc_value(net);
  net.output(net.concatenation({net.input({2, 1, 4, 5}), x, net.weights({2, 2, 4, 5})}, 1));
  check_choose_layout(net);
  CHECK(ints(net.model, the(net.model, OperationCode::CONCATENATION), 3) == Ints{3});
}

TEST_CASE("choose_layout: SOFTMAX without an axis is along PyTorch's last") {
  Net net;
  const OperandId x = nhwc_value(net);
  net.output(net.builder.add(OperationCode::SOFTMAX, {x, net.builder.float32(1)}, testing::float_type({2, 3, 4, 5})));
  choose_layout(net.model);
  CHECK(net.dims(the(net.model, OperationCode::SOFTMAX).outputs[0]) == Dims{2, 3, 4, 5});
  CHECK(net.dims(the(net.model, OperationCode::SOFTMAX).inputs[0]) == Dims{2, 3, 4, 5});
}

TEST_CASE("choose_layout: MEAN that keeps axes") {
  const std::vector<std::pair<Ints, Ints>> cases = {
      {{1}, {3}}, {{2, 3}, {1, 2}}, {{-1, -2}, {1, 2}}, {{1, 2}, {1, 3}}, {{0}, {0}}};
  for (const auto& [axes, expected] : cases) {
    Net net;
    net.output(net.mean(nhwc_value(net), axes, true));
    check_choose_layout(net);
    CHECK(ints(net.model, the(net.model, OperationCode::MEAN), 1) == expected);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
    CHECK(net.model.outputs[0].nhwc);
  }
}

TEST_CASE("choose_layout: MEAN that removes axes, where the rest stays in order") {
  for (const Ints& axes : {Ints{2, 3}, Ints{1}, Ints{-3}, Ints{1, 2}, Ints{1, 3}, Ints{0, 1}}) {
    Net net;
    net.output(net.mean(nhwc_value(net), axes, false));
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
    CHECK_FALSE(net.model.outputs[0].nhwc);
  }
}

TEST_CASE("choose_layout: MEAN that removes axes, where the rest would change its order") {
  for (const Ints& axes : {Ints{2}, Ints{3}, Ints{0}, Ints{-1}, Ints{0, 2}}) {
    Net net;
    net.output(net.mean(nhwc_value(net), axes, false));
    check_choose_layout(net);
    CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  }
}

TEST_CASE("choose_layout: pairs of PAD") {
  Net net;
  net.output(net.pad(nhwc_value(net), {0, 1, 2, 3, 4, 5, 6, 7}));
  check_choose_layout(net);
  const Operation& pad = the(net.model, OperationCode::PAD);
  CHECK(ints(net.model, pad, 1) == Ints{0, 1, 4, 5, 6, 7, 2, 3});
  CHECK(net.dims(pad.inputs[1]) == Dims{4, 2});
  CHECK(net.dims(pad.outputs[0]) == Dims{3, 13, 18, 8});
}

TEST_CASE("choose_layout: vectors and masks of STRIDED_SLICE") {
  Net net;
  // Masks on C (bit 1) for begin, on H (bit 2) and N (bit 0) for end.
  net.output(net.strided_slice(nhwc_value(net), {0, 2, 1, 0}, {1, 3, 2, 5}, {1, 1, 2, 3}, 0b0010, 0b0101));
  check_choose_layout(net);
  const Operation& slice = the(net.model, OperationCode::STRIDED_SLICE);
  CHECK(ints(net.model, slice, 1) == Ints{0, 1, 0, 2});
  CHECK(ints(net.model, slice, 2) == Ints{1, 2, 5, 3});
  CHECK(ints(net.model, slice, 3) == Ints{1, 2, 3, 1});
  CHECK(ints(net.model, slice, 4) == Ints{0b1000});
  CHECK(ints(net.model, slice, 5) == Ints{0b0011});
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 0);
}

TEST_CASE("choose_layout: STRIDED_SLICE that removes an axis works in PyTorch's order") {
  Net net;
  const OperandId x = nhwc_value(net);
  const auto vector = [&](const Ints& values) { return net.builder.int32_tensor(to_dims(values)); };
  const auto number = [&](int64_t value) { return net.builder.int32(value); };
  net.output(net.builder.add(
      OperationCode::STRIDED_SLICE,
      {x, vector({0, 1, 0, 0}), vector({2, 2, 4, 5}), vector({1, 1, 1, 1}), number(0), number(0), number(0b0010)},
      testing::float_type({2, 4, 5})));
  choose_layout(net.model);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 1);
  CHECK(ints(net.model, the(net.model, OperationCode::STRIDED_SLICE), 6) == Ints{0b0010});
}

TEST_CASE("choose_layout: vectors of SLICE and TILE, and the outputs of SPLIT") {
  Net net;
  const OperandId x = nhwc_value(net);
  const auto vector = [&](const Ints& values) { return net.builder.int32_tensor(to_dims(values)); };
  net.output(net.builder.add(OperationCode::SLICE, {x, vector({0, 1, 2, 3}), vector({1, 2, 2, 1})},
                             testing::float_type({1, 2, 2, 1})));
  net.output(net.builder.add(OperationCode::TILE, {x, vector({1, 2, 3, 4})}, testing::float_type({2, 6, 12, 20})));
  const std::vector<Operand> thirds(3, testing::float_type({2, 1, 4, 5}));
  net.output(net.builder.add(OperationCode::SPLIT, {x, net.builder.int32(1), net.builder.int32(3)}, thirds)[2]);
  choose_layout(net.model);
  const Operation& slice = the(net.model, OperationCode::SLICE);
  CHECK(ints(net.model, slice, 1) == Ints{0, 2, 3, 1});
  CHECK(ints(net.model, slice, 2) == Ints{1, 2, 1, 2});
  CHECK(net.dims(slice.outputs[0]) == Dims{1, 2, 1, 2});
  const Operation& tile = the(net.model, OperationCode::TILE);
  CHECK(ints(net.model, tile, 1) == Ints{1, 3, 4, 2});
  CHECK(net.dims(tile.outputs[0]) == Dims{2, 12, 20, 6});
  const Operation& split = the(net.model, OperationCode::SPLIT);
  CHECK(ints(net.model, split, 1) == Ints{3});
  for (const OperandId id : split.outputs) CHECK(net.dims(id) == Dims{2, 4, 5, 1});
  CHECK(net.model.outputs[2].nhwc);
}

TEST_CASE("choose_layout: axes shared with an operation in PyTorch's order stay there") {
  Net net;
  const OperandId x = nhwc_value(net);
  const OperandId axis = net.builder.int32(1);
  const OperandId flat = net.input({2, 3});
  net.output(net.builder.add(OperationCode::CONCATENATION, {x, x, axis}, testing::float_type({2, 6, 4, 5})));
  net.output(net.builder.add(OperationCode::CONCATENATION, {flat, flat, axis}, testing::float_type({2, 6})));
  check_choose_layout(net);
  CHECK(ints(net.model, net.model.operations[1], 2) == Ints{3});
  CHECK(ints(net.model, net.model.operations[2], 2) == Ints{1});
}
