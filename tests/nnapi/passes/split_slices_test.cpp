// SPDX-License-Identifier: BSD-3-Clause
// Slices of queries, keys and values become a SPLIT of the layer's result, and the model computes the same.
#include "lib/nnapi/passes/split_slices.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

constexpr int64_t kPoints = 5, kThree = 3, kGroups = 2, kWidth = 4;

// The result of a linear layer, as [parts, groups, points, width].
OperandId parts_of_layer(Net& net) {
  const OperandId all = net.fully_connected(net.input({kPoints, 6}), kThree * kGroups * kWidth);
  const OperandId apart = net.transpose(net.reshape(all, {kPoints, kThree, kGroups * kWidth}), {1, 0, 2});
  const OperandId grouped = net.reshape(apart, {kThree * kPoints, kGroups, kWidth});
  return net.reshape(net.transpose(grouped, {1, 0, 2}), {kGroups, kThree, kPoints * kWidth});
}

OperandId entry(Net& net, OperandId x, size_t axis, int64_t number) {
  std::vector<int64_t> begin(net.dims(x).size(), 0), end = fixed_values(net.dims(x));
  begin[axis] = number;
  end[axis] = number + 1;
  return net.strided_slice(x, begin, end, std::vector<int64_t>(begin.size(), 1));
}

// Runs the pass, checks that the model computes the same, and counts the slices that are left.
size_t slices_left(Net& net, int feature_level = 3) {
  testing::check_keeps_results(net, [&](Model& model) {
    split_slices(model, feature_level);
    compact(model);
  });
  return count(net.model, OperationCode::STRIDED_SLICE);
}

}  // namespace

TEST_CASE("split_slices: all parts, in any order, each behind its own RESHAPE") {
  Net net;
  const OperandId parts = parts_of_layer(net);
  for (const int64_t number : {1, 0, 2}) {
    const OperandId part = entry(net, net.reshape(parts, {kGroups, kThree, kPoints * kWidth}), 1, number);
    net.output(net.unary(OperationCode::RELU, net.reshape(part, {kGroups, kPoints, kWidth})));
  }
  CHECK(slices_left(net) == 0);
  CHECK(count(net.model, OperationCode::SPLIT) == 1);
}

TEST_CASE("split_slices: slices of two layers, one between the others") {
  Net net;
  const OperandId one = parts_of_layer(net), other = parts_of_layer(net);
  std::vector<OperandId> parts = {entry(net, one, 1, 0)};
  for (const int64_t number : {0, 1, 2}) parts.push_back(entry(net, other, 1, number));
  for (const int64_t number : {1, 2}) parts.push_back(entry(net, one, 1, number));
  for (const OperandId part : parts) net.output(net.unary(OperationCode::RELU, part));
  CHECK(slices_left(net) == 0);
  CHECK(count(net.model, OperationCode::SPLIT) == 2);
}

TEST_CASE("split_slices: some of the parts, or one twice, stay slices") {
  Net net;
  const OperandId parts = parts_of_layer(net);
  for (const int64_t number : {0, 2}) net.output(entry(net, parts, 1, number));
  CHECK(slices_left(net) == 2);
  Net other;
  const OperandId all = parts_of_layer(other);
  for (const int64_t number : {0, 1, 2, 2}) other.output(entry(other, all, 1, number));
  CHECK(slices_left(other) == 4);
}

TEST_CASE("split_slices: entries that are no parts of the layer's result stay slices") {
  Net net;
  const OperandId result = net.fully_connected(net.input({kPoints, 6}), 8);
  const OperandId mixed = net.reshape(net.transpose(net.reshape(result, {kPoints, 4, 2}), {2, 0, 1}), {2, kPoints * 4});
  for (const int64_t number : {0, 1}) net.output(entry(net, mixed, 0, number));  // every other number of a row
  CHECK(slices_left(net) == 2);
}

TEST_CASE("split_slices: feature level 2 has no SPLIT") {
  Net net;
  const OperandId parts = parts_of_layer(net);
  for (const int64_t number : {0, 1, 2}) net.output(entry(net, parts, 1, number));
  CHECK(slices_left(net, 2) == 3);
}
