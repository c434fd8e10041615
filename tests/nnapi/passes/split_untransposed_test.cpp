// SPDX-License-Identifier: BSD-3-Clause
// Heads of attention are split off and joined along the last axis of a matrix, without a TRANSPOSE.
#include "lib/nnapi/passes/split_untransposed.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

constexpr int64_t kRows = 5, kHeads = 3, kFeatures = 4;

std::vector<OperandId> split(Net& net, OperandId x, int64_t axis, int64_t parts, const Dims& dims) {
  return net.builder.add(OperationCode::SPLIT, {x, net.builder.int32(axis), net.builder.int32(parts)},
                         std::vector<Operand>(static_cast<size_t>(parts), testing::float_type(dims)));
}

// Runs the pass, checks that the model computes the same, and counts the TRANSPOSEs that are left.
size_t transposes_left(Net& net) {
  testing::check_keeps_results(net, [](Model& model) {
    split_untransposed(model);
    compact(model);
  });
  return count(net.model, OperationCode::TRANSPOSE);
}

}  // namespace

TEST_CASE("split_untransposed: heads are split off") {
  Net net;
  const OperandId heads = net.transpose(net.input({kRows, kHeads, kFeatures}), {1, 0, 2});
  const OperandId matrix = net.reshape(heads, {kHeads * kRows, kFeatures});
  for (const OperandId head : split(net, matrix, 0, kHeads, {kRows, kFeatures})) net.output(head);
  CHECK(transposes_left(net) == 0);
}

TEST_CASE("split_untransposed: other parts than the heads are not") {
  Net net;
  const OperandId heads = net.transpose(net.input({kRows, kHeads, kFeatures}), {1, 0, 2});
  const OperandId matrix = net.reshape(heads, {kHeads * kRows, kFeatures});
  for (const OperandId part : split(net, matrix, 0, kRows, {kHeads, kFeatures})) net.output(part);
  CHECK(transposes_left(net) == 1);
}

TEST_CASE("split_untransposed: heads are joined") {
  Net net;
  std::vector<OperandId> heads = split(net, net.input({kHeads * kRows, kFeatures}), 0, kHeads, {kRows, kFeatures});
  for (OperandId& head : heads) head = net.unary(OperationCode::RELU, head);
  const OperandId joined = net.reshape(net.concatenation(heads, 0), {kHeads, kRows, kFeatures});
  net.output(net.transpose(joined, {1, 0, 2}));
  CHECK(transposes_left(net) == 0);
}

TEST_CASE("split_untransposed: a matrix that something else reads keeps its moves") {
  Net net;
  const OperandId heads = net.transpose(net.input({kRows, kHeads, kFeatures}), {1, 0, 2});
  const OperandId matrix = net.reshape(heads, {kHeads * kRows, kFeatures});
  for (const OperandId head : split(net, matrix, 0, kHeads, {kRows, kFeatures})) net.output(head);
  net.output(net.unary(OperationCode::RELU, matrix));
  CHECK(transposes_left(net) == 1);
}
