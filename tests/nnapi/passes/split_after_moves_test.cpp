// SPDX-License-Identifier: BSD-3-Clause
// Moves behind all parts of a SPLIT go in front of it, once, and the model computes the same.
#include "lib/nnapi/passes/split_after_moves.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

constexpr int64_t kTokens = 5, kTwoHeads = 2, kOfHead = 4;

std::vector<OperandId> equal_parts(Net& net, OperandId x, int64_t axis, size_t parts) {
  Dims dims = net.dims(x);
  Dim& size = dims[static_cast<size_t>(axis)];
  size = Dim(size.value() / static_cast<int64_t>(parts));
  return net.builder.add(OperationCode::SPLIT,
                         {x, net.builder.int32(axis), net.builder.int32(static_cast<int64_t>(parts))},
                         std::vector<Operand>(parts, testing::float_type(dims)));
}

// Runs the pass, and checks the operations that are left and what they compute.
void check_lifted(Net& net, const std::vector<OperationCode>& left) {
  testing::check_keeps_results(net, [](Model& model) {
    split_after_moves(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
}

}  // namespace

TEST_CASE("split_after_moves: heads of queries, keys and values") {
  Net net;
  for (const OperandId part : equal_parts(net, net.input({kTokens, 3 * kTwoHeads * kOfHead}), 1, 3)) {
    net.output(
        net.unary(OperationCode::RELU, net.transpose(net.reshape(part, {kTokens, kTwoHeads, kOfHead}), {1, 0, 2})));
  }
  check_lifted(net, {OperationCode::RESHAPE, OperationCode::TRANSPOSE, OperationCode::SPLIT, OperationCode::RELU,
                     OperationCode::RELU, OperationCode::RELU});
}

TEST_CASE("split_after_moves: parts between other axes") {
  Net net;
  for (const OperandId part : equal_parts(net, net.input({3, 4, 5}), 1, 2)) {
    net.output(net.unary(OperationCode::RELU, net.reshape(part, {3, 10})));
  }
  check_lifted(net, {OperationCode::RESHAPE, OperationCode::SPLIT, OperationCode::RELU, OperationCode::RELU});
}

TEST_CASE("split_after_moves: a reshape that mixes the parts with axes before them stays") {
  Net net;
  for (const OperandId part : equal_parts(net, net.input({3, 4, 5}), 1, 2)) {
    net.output(net.unary(OperationCode::RELU, net.reshape(part, {6, 5})));
  }
  check_lifted(net, {OperationCode::SPLIT, OperationCode::RESHAPE, OperationCode::RELU, OperationCode::RESHAPE,
                     OperationCode::RELU});
}

TEST_CASE("split_after_moves: parts that are moved otherwise, or read twice, stay") {
  Net net;
  const auto parts = equal_parts(net, net.input({6, 4, 5}), 0, 3);
  net.output(net.unary(OperationCode::RELU, net.transpose(parts[0], {1, 0, 2})));
  net.output(net.unary(OperationCode::RELU, net.transpose(parts[1], {1, 0, 2})));
  net.output(net.unary(OperationCode::RELU, net.transpose(parts[2], {2, 0, 1})));
  check_lifted(net, {OperationCode::SPLIT, OperationCode::TRANSPOSE, OperationCode::RELU, OperationCode::TRANSPOSE,
                     OperationCode::RELU, OperationCode::TRANSPOSE, OperationCode::RELU});
  Net other;
  const auto two = equal_parts(other, other.input({6, 4, 5}), 0, 2);
  other.output(other.unary(OperationCode::RELU, other.transpose(two[0], {1, 0, 2})));
  other.output(other.unary(OperationCode::RELU, other.transpose(two[1], {1, 0, 2})));
  other.output(other.unary(OperationCode::RELU, two[1]));
  check_lifted(other, {OperationCode::SPLIT, OperationCode::TRANSPOSE, OperationCode::RELU, OperationCode::TRANSPOSE,
                       OperationCode::RELU, OperationCode::RELU});
}

TEST_CASE("split_after_moves: a product reads transposed keys by its flag") {
  Net net;
  const auto parts = equal_parts(net, net.input({kTokens, 2 * kTwoHeads, kOfHead}), 1, 2);
  const OperandId queries = net.transpose(parts[0], {1, 0, 2}), keys = net.transpose(parts[1], {1, 2, 0});
  net.output(net.builder.add(OperationCode::BATCH_MATMUL,
                             {queries, keys, net.builder.boolean(false), net.builder.boolean(false)},
                             testing::float_type({kTwoHeads, kTokens, kTokens})));
  check_lifted(net, {OperationCode::TRANSPOSE, OperationCode::SPLIT, OperationCode::BATCH_MATMUL});
  const Operation& product = testing::the(net.model, OperationCode::BATCH_MATMUL);
  CHECK_FALSE(std::get<bool>(net.model.at(product.inputs[2]).value));
  CHECK(std::get<bool>(net.model.at(product.inputs[3]).value));
}
