// SPDX-License-Identifier: BSD-3-Clause
// What lies between 1-D convolutions takes the layout of pictures.
#include "lib/nnapi/passes/raise_rank.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

constexpr int64_t kSequences = 2, kMaps = 3, kSteps = 8;

// A 1-D convolution as rules write it: a picture of one row.
OperandId conv1d(Net& net, OperandId x, int64_t channels) {
  const Dims& dims = net.dims(x);
  const OperandId picture = net.reshape(x, {dims[0], dims[1], 1, dims[2]});
  const OperandId result = net.conv(picture, channels);
  return net.reshape(result, {net.dims(result)[0], net.dims(result)[1], net.dims(result)[3]});
}

// Runs the passes, checks that the model computes the same, and counts the TRANSPOSEs that are left.
size_t transposes_left(Net& net) {
  testing::check_keeps_results(net, [](Model& model) {
    raise_rank(model);
    choose_layout(model, true);
    merge_moves(model);
    compact(model);
  });
  return count(net.model, OperationCode::TRANSPOSE);
}

// A net whose first convolution's result goes through `between` to a second one. A TRANSPOSE is at either end.
template <typename Between>
void check_between(const Between& between) {
  Net net;
  const OperandId x = conv1d(net, net.input({kSequences, kMaps, kSteps}), kMaps);
  net.output(conv1d(net, between(net, x), 4));
  CHECK(transposes_left(net) == 2);
}

TEST_CASE("elementwise operations between 1-D convolutions need no TRANSPOSE") {
  check_between([](Net& net, OperandId x) {
    const OperandId gate = net.unary(OperationCode::RELU, x);
    return net.binary(OperationCode::MUL, net.unary(OperationCode::RELU6, x), gate);
  });
  check_between([](Net& net, OperandId x) {
    return net.binary(OperationCode::ADD, x, conv1d(net, net.unary(OperationCode::RELU, x), kMaps));
  });
}

TEST_CASE("constants of any rank get the axis of the row") {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{kMaps, 1}, {1, kMaps, 1}, {kSequences, kMaps, kSteps}, {kSteps}, {1}}) {
    check_between([&](Net& net, OperandId x) { return net.binary(OperationCode::MUL, x, net.weights(shape)); });
  }
}

TEST_CASE("operations along axes between 1-D convolutions need no TRANSPOSE") {
  check_between([](Net& net, OperandId x) { return net.pad(x, {0, 0, 0, 1, 2, 0}); });
  check_between([](Net& net, OperandId x) { return net.concatenation({x, x}, -2); });
  check_between([](Net& net, OperandId x) { return net.softmax(x, 1); });
  check_between([](Net& net, OperandId x) {
    return net.strided_slice(x, {0, 1, 2}, {kSequences, kMaps, 7}, {1, 1, 2}, 1, 2);
  });
  check_between([](Net& net, OperandId x) { return net.binary(OperationCode::MUL, x, net.mean(x, {-1}, true)); });
  check_between([](Net& net, OperandId x) {
    const OperandId wide = conv1d(net, x, 4);
    const auto halves = net.builder.add(OperationCode::SPLIT, {wide, net.builder.int32(1), net.builder.int32(2)},
                                        std::vector<Operand>(2, testing::float_type({kSequences, 2, kSteps})));
    return net.binary(OperationCode::MUL, halves[0], halves[1]);
  });
}

TEST_CASE("a mean over the length of a 1-D convolution is one over a picture") {
  Net net;
  const OperandId x = conv1d(net, net.input({kSequences, kMaps, kSteps}), 4);
  net.output(net.fully_connected(net.mean(net.unary(OperationCode::RELU, x), {2}, false), 5));
  CHECK(transposes_left(net) == 1);
}

TEST_CASE("rows of channels behind a 1-D convolution are the order that NHWC has") {
  Net net;
  const OperandId x = conv1d(net, net.input({kSequences, kMaps, kSteps}), 4);
  net.output(net.unary(OperationCode::RELU6, net.transpose(net.unary(OperationCode::RELU, x), {0, 2, 1})));
  CHECK(transposes_left(net) == 1);
}

TEST_CASE("operations that a picture can't have stay") {
  Net net;
  const OperandId x = conv1d(net, net.input({kSequences, kMaps, kSteps}), kMaps);
  const OperandId other = net.input({kSequences, kMaps, kSteps});  // no picture, and a row would need a TRANSPOSE
  net.output(net.binary(OperationCode::ADD, x, other));
  Model before = net.model;
  raise_rank(net.model);
  CHECK(testing::codes(net.model) == testing::codes(before));
}

}  // namespace
