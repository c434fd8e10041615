// SPDX-License-Identifier: BSD-3-Clause
// Chains of RESHAPE and TRANSPOSE become shorter and give the same.
#include "lib/nnapi/passes/merge_moves.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/sink_moves.h"
#include "lib/nnapi/passes/split_untransposed.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;
using Codes = std::vector<OperationCode>;

namespace {

// Checks what is left of a net with one input after a pass, and that it computes the same.
void check_becomes(Net& net, OperandId output, void (*pass)(Model&), const Codes& expected) {
  net.output(output);
  testing::check_keeps_results(net, [&](Model& model) {
    pass(model);
    compact(model);
  });
  CHECK(codes(net.model) == expected);
}

std::vector<int64_t> random_order(std::mt19937& random, size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

TEST_CASE("merge_moves: two permutations that cancel") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU, net.input({2, 3, 4}));
  const OperandId there = net.transpose(x, {1, 2, 0});
  check_becomes(net, net.unary(OperationCode::RELU1, net.transpose(there, {2, 0, 1})), merge_moves,
                {OperationCode::RELU, OperationCode::RELU1});
}

TEST_CASE("merge_moves: heads split off and joined") {
  Net net;
  const OperandId heads = net.transpose(net.reshape(net.input({5, 8}), {5, 2, 4}), {1, 0, 2});
  const OperandId back = net.reshape(net.transpose(net.reshape(heads, {1, 2, 5, 4}), {0, 2, 1, 3}), {5, 8});
  check_becomes(net, net.unary(OperationCode::RELU1, back), merge_moves, {OperationCode::RELU1});
}

TEST_CASE("merge_moves: RESHAPEs between sizes without common factors") {
  Net net;
  const OperandId x = net.reshape(net.reshape(net.input({2, 3, 4}), {3, 2, 4}), {8, 3});
  check_becomes(net, net.unary(OperationCode::RELU1, x), merge_moves, {OperationCode::RESHAPE, OperationCode::RELU1});
}

TEST_CASE("merge_moves: a result that other operations read too stays") {
  Net net;
  const OperandId first = net.reshape(net.input({6, 4}), {2, 3, 4});
  const OperandId second = net.reshape(first, {2, 12});
  check_becomes(net, net.binary(OperationCode::ADD, net.reshape(second, {2, 3, 4}), first), merge_moves,
                {OperationCode::RESHAPE, OperationCode::ADD});
}

TEST_CASE("merge_moves: sizes that don't divide each other") {
  Net net;
  const OperandId odd = net.reshape(net.transpose(net.input({4, 6}), {1, 0}), {3, 8});
  check_becomes(net, net.transpose(odd, {1, 0}), merge_moves,
                {OperationCode::TRANSPOSE, OperationCode::RESHAPE, OperationCode::TRANSPOSE});
}

TEST_CASE("merge_moves: FULLY_CONNECTED reads through a RESHAPE") {
  Net net;
  check_becomes(net, net.fully_connected(net.reshape(net.input({2, 3, 4}), {6, 4}), 5), merge_moves,
                {OperationCode::FULLY_CONNECTED});
}

TEST_CASE("merge_moves: random chains") {
  const std::vector<Dims> shapes = {{24}, {4, 6}, {2, 12}, {2, 3, 4}, {1, 4, 6}, {4, 1, 2, 3}, {2, 2, 2, 3}, {3, 8}};
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Net net;
    net.random.seed(seed);
    OperandId x = net.input(shapes[net.random() % shapes.size()]);
    for (int i = 0; i < 5; ++i) {
      x = net.random() % 2 == 0 ? net.reshape(x, shapes[net.random() % shapes.size()])
                                : net.transpose(x, random_order(net.random, net.dims(x).size()));
    }
    net.output(net.unary(OperationCode::RELU1, x));
    const size_t operations = net.model.operations.size();
    CAPTURE(seed);
    testing::check_keeps_results(net, merge_moves);
    CHECK(net.model.operations.size() <= operations);
  }
}

TEST_CASE("sink_moves: below constants along channels and activations") {
  Net net;
  const OperandId flat = net.reshape(net.conv(net.input({1, 3, 5, 6}), 4), {1, 4, 30});
  const OperandId scaled = net.binary(OperationCode::MUL, flat, net.weights({4, 1}));
  check_becomes(net, net.unary(OperationCode::RELU, scaled), sink_moves,
                {OperationCode::CONV_2D, OperationCode::MUL, OperationCode::RELU, OperationCode::RESHAPE});
}

TEST_CASE("sink_moves: not below a constant along parts of axes") {
  Net net;
  const OperandId flat = net.reshape(net.input({1, 4, 5, 6}), {2, 60});
  check_becomes(net, net.binary(OperationCode::MUL, flat, net.weights({60})), sink_moves,
                {OperationCode::RESHAPE, OperationCode::MUL});
}

TEST_CASE("sink_moves: TRANSPOSE takes the constant's axes along") {
  Net net;
  const OperandId moved = net.transpose(net.input({2, 3, 4}), {2, 0, 1});
  const OperandId sum = net.binary(OperationCode::ADD, moved, net.weights({2, 3}));
  check_becomes(net, net.transpose(sum, {1, 2, 0}), sink_moves, {OperationCode::ADD});
}

TEST_CASE("sink_moves: two inputs moved alike") {
  Net net;
  const OperandId x = net.input({2, 6});
  const OperandId a = net.reshape(net.unary(OperationCode::RELU1, x), {3, 4});
  const OperandId b = net.reshape(net.unary(OperationCode::RELU, x), {3, 4});
  check_becomes(net, net.binary(OperationCode::ADD, a, b), sink_moves,
                {OperationCode::RELU1, OperationCode::RELU, OperationCode::ADD, OperationCode::RESHAPE});
}

TEST_CASE("sink_moves: one of two unlike RESHAPEs") {
  Net net;
  const OperandId x = net.input({2, 3, 4});
  const OperandId a = net.reshape(net.unary(OperationCode::RELU1, x), {24});
  const OperandId other = net.transpose(net.reshape(net.unary(OperationCode::RELU, x), {6, 4}), {1, 0});
  const OperandId sum = net.binary(OperationCode::ADD, a, net.reshape(other, {24}));
  check_becomes(net, net.unary(OperationCode::RELU6, net.reshape(sum, {2, 3, 4})), sink_moves,
                {OperationCode::RELU1, OperationCode::RELU, OperationCode::TRANSPOSE, OperationCode::RESHAPE,
                 OperationCode::ADD, OperationCode::RELU6});
}

TEST_CASE("sink_moves: no broadcasting RESHAPE goes below") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU, net.input({2, 3, 4}));
  const OperandId row = net.mean(x, {0, 1}, false);
  check_becomes(
      net, net.binary(OperationCode::ADD, net.reshape(x, {6, 4}), net.reshape(row, {1, 4})), sink_moves,
      {OperationCode::RELU, OperationCode::MEAN, OperationCode::RESHAPE, OperationCode::RESHAPE, OperationCode::ADD});
}

TEST_CASE("sink_moves: a RESHAPE that other moves read too") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU1, net.input({2, 3, 4}));
  const OperandId flat = net.reshape(x, {24});
  const OperandId sum = net.binary(OperationCode::ADD, net.reshape(net.unary(OperationCode::RELU, x), {24}), flat);
  const OperandId moved = net.transpose(net.reshape(flat, {6, 4}), {1, 0});
  const OperandId turned = net.transpose(net.reshape(sum, {6, 4}), {1, 0});
  check_becomes(net, net.binary(OperationCode::MUL, turned, net.unary(OperationCode::RELU6, moved)), sink_moves,
                {OperationCode::RELU1, OperationCode::RELU, OperationCode::ADD, OperationCode::RELU6,
                 OperationCode::MUL, OperationCode::RESHAPE, OperationCode::TRANSPOSE});
}

TEST_CASE("sink_moves: below tensors joined along an axis that stays") {
  Net net;
  const OperandId x = net.input({2, 3, 4, 5});
  const OperandId a = net.reshape(net.unary(OperationCode::RELU1, x), {2, 3, 20});
  const OperandId b = net.reshape(net.unary(OperationCode::RELU, net.reshape(x, {6, 20})), {2, 3, 20});
  const OperandId joined = net.concatenation({a, b}, 1);
  check_becomes(net, net.unary(OperationCode::RELU6, net.reshape(joined, {2, 6, 4, 5})), sink_moves,
                {OperationCode::RELU1, OperationCode::RELU, OperationCode::CONCATENATION, OperationCode::RELU6});
}

TEST_CASE("sink_moves: not below tensors joined along merged axes") {
  Net net;
  const OperandId x = net.input({2, 3, 4});
  const OperandId a = net.reshape(net.unary(OperationCode::RELU1, x), {2, 12});
  const OperandId b = net.reshape(net.unary(OperationCode::RELU, x), {2, 12});
  check_becomes(net, net.concatenation({a, b}, 1), sink_moves,
                {OperationCode::RELU1, OperationCode::RESHAPE, OperationCode::RELU, OperationCode::RESHAPE,
                 OperationCode::CONCATENATION});
}

TEST_CASE("merge_moves: FULLY_CONNECTED reads elements in their order, whatever their axes") {
  Net joined;
  const OperandId heads = joined.transpose(joined.input({2, 5, 3}), {1, 0, 2});
  check_becomes(joined, joined.fully_connected(joined.reshape(heads, {5, 6}), 4), merge_moves,
                {OperationCode::TRANSPOSE, OperationCode::FULLY_CONNECTED});
  Net turned;
  const OperandId rows = turned.transpose(turned.input({1, 5, 6}), {1, 0, 2});
  const OperandId result = turned.builder.add(
      OperationCode::FULLY_CONNECTED, {rows, turned.weights({4, 6}), turned.weights({4}), turned.builder.int32(0)},
      testing::float_type({5, 4}));
  check_becomes(turned, result, merge_moves, {OperationCode::FULLY_CONNECTED});
  Net swapped;
  const OperandId columns = swapped.transpose(swapped.input({2, 5, 6}), {1, 0, 2});
  check_becomes(swapped, swapped.fully_connected(swapped.reshape(columns, {10, 6}), 4), merge_moves,
                {OperationCode::TRANSPOSE, OperationCode::FULLY_CONNECTED});
  Net picture;  // its layout may change
  check_becomes(picture, picture.fully_connected(picture.reshape(picture.input({1, 2, 3, 4}), {1, 24}), 4), merge_moves,
                {OperationCode::RESHAPE, OperationCode::FULLY_CONNECTED});
}
