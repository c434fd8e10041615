// SPDX-License-Identifier: BSD-3-Clause
// Products of batches of matrices, a FULLY_CONNECTED each, become one GROUPED_CONV_2D that computes the same.
#include "lib/nnapi/passes/group_products.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/sink_moves.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

constexpr int64_t kHeads = 3, kRows = 4, kColumns = 5, kInner = 2;
constexpr int kLevel = 3;

std::vector<OperandId> rows_in_parts(Net& net, OperandId x, int64_t parts) {
  Dims dims = net.dims(x);
  dims[0] = Dim(dims[0].value() / parts);
  return net.builder.add(OperationCode::SPLIT, {x, net.builder.int32(0), net.builder.int32(parts)},
                         std::vector<Operand>(static_cast<size_t>(parts), testing::float_type(dims)));
}

OperandId product(Net& net, OperandId left, OperandId right, float bias = 0) {
  const Dim columns = net.dims(right)[0];
  const std::vector<float> added(static_cast<size_t>(columns.value()), bias);
  return net.builder.add(OperationCode::FULLY_CONNECTED,
                         {left, right, net.builder.tensor(Constant::of_floats(added)), net.builder.int32(0)},
                         testing::float_type({net.dims(left)[0], columns}));
}

// left [heads * rows, inner] by right [heads * columns, inner], head by head.
OperandId products(Net& net, OperandId left, OperandId right, float bias = 0) {
  const auto lefts = rows_in_parts(net, left, kHeads), rights = rows_in_parts(net, right, kHeads);
  std::vector<OperandId> parts;
  for (size_t i = 0; i < lefts.size(); ++i) parts.push_back(product(net, lefts[i], rights[i], bias));
  return net.concatenation(parts, 0);
}

OperandId lefts(Net& net) {
  return net.input({kHeads * kRows, kInner});
}
OperandId rights(Net& net) {
  return net.input({kHeads * kColumns, kInner});
}

void group(Net& net, int feature_level = kLevel) {
  testing::check_keeps_results(net, [&](Model& model) {
    group_products(model, feature_level);
    compact(model);
  });
}

}  // namespace

TEST_CASE("group_products: a batch of products") {
  Net net;
  net.output(products(net, lefts(net), rights(net)));
  group(net);
  CHECK(count(net.model, OperationCode::FULLY_CONNECTED) == 0);
  CHECK(count(net.model, OperationCode::SPLIT) == 0);
  CHECK(testing::ints(net.model, testing::the(net.model, OperationCode::GROUPED_CONV_2D), 9) ==
        std::vector<int64_t>{kHeads});
  CHECK(validate(net.model, kLevel).empty());
}

TEST_CASE("group_products: attention of one sequence needs two TRANSPOSEs, of keys and values") {
  Net net;
  const auto heads_first = [&](OperandId x, const std::vector<int64_t>& order) {
    const OperandId moved = net.transpose(net.reshape(x, {kRows, kHeads, kInner}), order);
    return net.reshape(moved, {net.dims(moved)[0] * net.dims(moved)[1], net.dims(moved)[2]});
  };
  const Dims tokens{kRows, kHeads * kInner};
  const OperandId queries = net.fully_connected(net.input(tokens), kHeads * kInner);
  const OperandId keys = net.fully_connected(net.input(tokens), kHeads * kInner);
  const OperandId values = net.fully_connected(net.input(tokens), kHeads * kInner);
  const OperandId scores = products(net, heads_first(queries, {1, 0, 2}), heads_first(keys, {1, 0, 2}));
  const OperandId masked =
      net.binary(OperationCode::ADD, net.reshape(scores, {kHeads, kRows, kRows}), net.weights({kHeads, kRows, kRows}));
  const OperandId weights = net.reshape(net.softmax(masked, 2), {kHeads * kRows, kRows});
  const OperandId results = products(net, weights, heads_first(values, {1, 2, 0}));
  const OperandId tokens_first = net.transpose(net.reshape(results, {kHeads, kRows, kInner}), {1, 0, 2});
  net.output(net.fully_connected(net.reshape(tokens_first, tokens), 7));
  testing::check_keeps_results(net, [](Model& model) {
    group_products(model, kLevel);
    sink_moves(model);
    choose_layout(model, true);
    compact(model);
  });
  CHECK(count(net.model, OperationCode::GROUPED_CONV_2D) == 2);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 2);
  CHECK(count(net.model, OperationCode::FULLY_CONNECTED) == 4);
  CHECK(validate(net.model, kLevel).empty());
}

TEST_CASE("group_products: other joins stay") {
  Net biased;
  biased.output(products(biased, lefts(biased), rights(biased), 1));
  group(biased);
  CHECK(count(biased.model, OperationCode::FULLY_CONNECTED) == kHeads);

  Net read_twice;
  const auto parts = rows_in_parts(read_twice, lefts(read_twice), kHeads);
  const auto others = rows_in_parts(read_twice, rights(read_twice), kHeads);
  std::vector<OperandId> results;
  for (size_t i = 0; i < parts.size(); ++i) results.push_back(product(read_twice, parts[i], others[i]));
  read_twice.output(read_twice.concatenation(results, 0));
  read_twice.output(read_twice.unary(OperationCode::RELU, parts[1]));
  group(read_twice);
  CHECK(count(read_twice.model, OperationCode::FULLY_CONNECTED) == kHeads);

  Net crossed;
  const auto firsts = rows_in_parts(crossed, crossed.input({2 * kRows, kInner}), 2);
  const auto seconds = rows_in_parts(crossed, crossed.input({2 * kColumns, kInner}), 2);
  crossed.output(
      crossed.concatenation({product(crossed, firsts[0], seconds[1]), product(crossed, firsts[1], seconds[0])}, 0));
  group(crossed);
  CHECK(count(crossed.model, OperationCode::FULLY_CONNECTED) == 2);
}

TEST_CASE("group_products: feature level 2 has no GROUPED_CONV_2D") {
  Net net;
  net.output(products(net, lefts(net), rights(net)));
  group(net, 2);
  CHECK(count(net.model, OperationCode::GROUPED_CONV_2D) == 0);
}
