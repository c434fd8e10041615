// Operations on tensors of rank 5 and more become ones of rank 4 where neighbouring axes can be merged.
#include "lib/nnapi/passes/reduce_rank.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/interpreter.h"
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

TEST_CASE("reduce_rank: an operation that needs five axes apart stays as it is") {
  Net net;
  const OperandId a = net.input({2, 1, 2, 1, 3}), b = net.input({1, 3, 1, 2, 1});
  net.output(net.binary(OperationCode::MUL, a, b));
  CHECK(rank_after(net, OperationCode::MUL, {{2, 1, 2, 1, 3}, {1, 3, 1, 2, 1}}) == 5);
}
