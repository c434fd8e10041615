// SPDX-License-Identifier: BSD-3-Clause
// Operations on tensors of rank 5 and more become ones of rank 4 where neighbouring axes can be merged.
#include "lib/nnapi/passes/reduce_rank.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/passes/random_model.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::Net;
using testing::the;

namespace {

using Shape = std::vector<int64_t>;

// The rank of the first input of the only operation with that code after the pass. The model computes the same.
size_t rank_after(Net& net, OperationCode code, const std::vector<Shape>& shapes) {
  std::vector<testing::Tensor> arguments;
  for (const Shape& shape : shapes) {
    arguments.emplace_back(shape);
    arguments.back().values = testing::random_values(net.random, arguments.back().values.size());
  }
  const auto before = testing::run(net.model, arguments);
  reduce_rank(net.model);
  compact(net.model);
  CHECK(testing::close(before[0], testing::run(net.model, arguments)[0]));
  CHECK(net.dims(net.model.outputs[0].operand).size() == before[0].shape.size());
  return net.dims(the(net.model, code).inputs[0]).size();
}

}  // namespace

TEST_CASE("reduce_rank: an operation of one input merges all axes that it can") {
  Net net;
  net.output(net.unary(OperationCode::RELU, net.input({2, 3, 2, 2, 3})));
  CHECK(rank_after(net, OperationCode::RELU, {{2, 3, 2, 2, 3}}) <= 4);
}

TEST_CASE("reduce_rank: axes along which one operand broadcasts stay apart") {
  Net net;
  const OperandId a = net.input({2, 3, 2, 2, 3}), b = net.input({1, 1, 2, 1, 1});
  net.output(net.binary(OperationCode::ADD, a, b));
  CHECK(rank_after(net, OperationCode::ADD, {{2, 3, 2, 2, 3}, {1, 1, 2, 1, 1}}) <= 4);
}

TEST_CASE("reduce_rank: an operand of lower rank with one element") {
  Net net;
  const OperandId a = net.input({1, 1, 1, 4, 3}), b = net.input({1, 1, 1, 1});
  net.output(net.binary(OperationCode::ADD, a, b));
  CHECK(rank_after(net, OperationCode::ADD, {{1, 1, 1, 4, 3}, {1, 1, 1, 1}}) <= 4);
}

TEST_CASE("reduce_rank: the axes of a MEAN are renumbered") {
  Net net;
  net.output(net.mean(net.input({2, 3, 2, 4, 3}), {2}, true));
  CHECK(rank_after(net, OperationCode::MEAN, {{2, 3, 2, 4, 3}}) <= 4);
}

TEST_CASE("reduce_rank: the indices of a GATHER are not along the other tensor's axes") {
  Net net;
  const OperandId indices = net.builder.int32_tensor({2, 0, 1, 1, 3});
  net.output(net.builder.add(OperationCode::GATHER, {net.input({2, 3, 2, 4, 3}), net.builder.int32(3), indices},
                             testing::float_type({2, 3, 2, 5, 3})));
  CHECK(rank_after(net, OperationCode::GATHER, {{2, 3, 2, 4, 3}}) <= 4);
}

namespace {

// Checks that the pass leaves no operation but moves on tensors of rank 5 and more, and that the model computes the
// same.
void check_has_low_ranks(Net& net) {
  testing::check_keeps_results(net, reduce_rank);
  for (const Operation& operation : net.model.operations) {
    if (operation.code == OperationCode::RESHAPE) continue;
    for (const OperandId id : operation.outputs) CHECK(net.dims(id).size() <= 4);
  }
}

}  // namespace

TEST_CASE("reduce_rank: operands that broadcast in turn are repeated") {
  Net net;
  const OperandId a = net.input({2, 1, 2, 1, 3}), b = net.input({1, 3, 1, 2, 1});
  net.output(net.binary(OperationCode::MUL, a, b));
  check_has_low_ranks(net);
}

TEST_CASE("reduce_rank: a number that is repeated along five axes is repeated along one") {
  Net net;
  const OperandId one = net.input({1, 1, 1, 1, 1});
  net.output(net.builder.add(OperationCode::TILE, {one, net.builder.int32_tensor({2, 3, 2, 2, 3})},
                             testing::float_type({2, 3, 2, 2, 3})));
  check_has_low_ranks(net);
  CHECK(testing::count(net.model, OperationCode::TILE) == 1);
}

TEST_CASE("reduce_rank: repetitions along five axes are divided") {
  Net net;
  const OperandId x = net.input({2, 3, 2, 2, 3});
  net.output(net.builder.add(OperationCode::TILE, {x, net.builder.int32_tensor({2, 2, 3, 3, 2})},
                             testing::float_type({4, 6, 6, 6, 6})));
  check_has_low_ranks(net);
  CHECK(testing::count(net.model, OperationCode::TILE) == 2);
}

TEST_CASE("reduce_rank: slices and borders of five axes are divided") {
  Net net;
  const OperandId x = net.input({3, 4, 4, 5, 6});
  const OperandId part = net.strided_slice(x, {1, 1, 0, 1, 0}, {3, 4, 3, 4, 6}, {1, 1, 1, 1, 2});
  net.output(net.pad(part, {1, 0, 0, 1, 1, 1, 2, 0, 0, 2}));
  check_has_low_ranks(net);
}

TEST_CASE("reduce_rank: means along every other axis are divided") {
  for (const bool keeps : {false, true}) {
    Net net;
    net.output(net.mean(net.input({2, 3, 2, 4, 3}), {0, 2, 4}, keeps));
    check_has_low_ranks(net);
    CHECK(testing::count(net.model, OperationCode::MEAN) == 2);
  }
}

TEST_CASE("reduce_rank: a comparison merges the axes that the model's results have merged") {
  Net net;
  const OperandId x = net.input({2, 3, 4, 30}), y = net.reshape(x, {2, 3, 4, 5, 6});
  const Operand bools{OperandCode::TENSOR_BOOL8, {2, 3, 4, 5, 6}, 0, 0, {}};
  Operand result = bools;
  result.dims = {2, 3, 4, 30};
  const OperandId is_positive = net.builder.add(OperationCode::GREATER, {y, net.weights({1})}, bools);
  net.output(net.builder.add(OperationCode::RESHAPE, {is_positive, net.builder.int32_tensor(result.dims)}, result));
  reduce_rank(net.model);
  merge_moves(net.model);
  compact(net.model);
  CHECK(testing::codes(net.model) == std::vector<OperationCode>{OperationCode::GREATER});
}
