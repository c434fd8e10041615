// SPDX-License-Identifier: BSD-3-Clause
// Regions of operations along the last axis become matrices where that saves RESHAPEs, and compute the same.
#include "lib/nnapi/passes/flatten_rows.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

// Runs the pass, and checks the operations that are left and what they compute.
void check_flattened(Net& net, const std::vector<OperationCode>& left) {
  testing::check_keeps_results(net, [](Model& model) {
    flatten_rows(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
}

}  // namespace

TEST_CASE("flatten_rows: what stands between linear layers works on their matrices") {
  Net net;
  const OperandId first = net.reshape(net.fully_connected(net.input({6, 5}), 4), {2, 3, 4});
  const OperandId centred = net.binary(OperationCode::SUB, first, net.mean(first, {2}, true));
  const OperandId scaled = net.binary(OperationCode::MUL, centred, net.weights({4}));
  const OperandId placed = net.binary(OperationCode::ADD, net.weights({2, 3, 4}), scaled);
  const OperandId shifted =
      net.binary(OperationCode::ADD, net.binary(OperationCode::MUL, placed, net.weights({1})), net.weights({1, 1, 4}));
  const OperandId last = net.softmax(shifted, 2);
  net.output(net.fully_connected(net.reshape(last, {6, 4}), 3));
  check_flattened(net, {OperationCode::FULLY_CONNECTED, OperationCode::MEAN, OperationCode::SUB, OperationCode::MUL,
                        OperationCode::ADD, OperationCode::MUL, OperationCode::ADD, OperationCode::SOFTMAX,
                        OperationCode::FULLY_CONNECTED});
}

TEST_CASE("flatten_rows: a sum of results of two layers needs no RESHAPE") {
  Net net;
  const OperandId x = net.input({6, 4});
  const OperandId a = net.reshape(net.fully_connected(x, 4), {1, 6, 4});
  const OperandId b = net.reshape(net.fully_connected(x, 4), {1, 6, 4});
  net.output(net.fully_connected(net.reshape(net.binary(OperationCode::ADD, a, b), {6, 4}), 2));
  check_flattened(net, {OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED, OperationCode::ADD,
                        OperationCode::FULLY_CONNECTED});
}

TEST_CASE("flatten_rows: a tensor that other operations read gets its axes back") {
  Net net;
  const OperandId x = net.input({6, 4});
  const OperandId a = net.reshape(net.fully_connected(x, 4), {2, 3, 4});
  const OperandId b = net.reshape(net.fully_connected(x, 4), {2, 3, 4});
  const OperandId sum = net.binary(OperationCode::ADD, a, b);
  const OperandId product = net.binary(OperationCode::MUL, sum, sum);
  net.output(net.reshape(product, {6, 4}));
  net.output(net.mean(sum, {1}, true));
  check_flattened(net, {OperationCode::FULLY_CONNECTED, OperationCode::FULLY_CONNECTED, OperationCode::ADD,
                        OperationCode::MUL, OperationCode::RESHAPE, OperationCode::MEAN});
}

TEST_CASE("flatten_rows: regions that would not lose an operation stay") {
  Net net;
  const OperandId x = net.input({2, 3, 4});
  const OperandId sum = net.binary(OperationCode::ADD, x, net.weights({4}));
  net.output(net.fully_connected(net.reshape(sum, {6, 4}), 2));
  check_flattened(net, {OperationCode::ADD, OperationCode::RESHAPE, OperationCode::FULLY_CONNECTED});
}

TEST_CASE("flatten_rows: constants of single rows or columns stay in the way") {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 3, 1}, {3, 4}, {2, 1, 4}}) {
    Net net;
    const OperandId a = net.reshape(net.fully_connected(net.input({6, 5}), 4), {2, 3, 4});
    net.output(net.reshape(net.binary(OperationCode::ADD, a, net.weights(shape)), {6, 4}));
    check_flattened(
        net, {OperationCode::FULLY_CONNECTED, OperationCode::RESHAPE, OperationCode::ADD, OperationCode::RESHAPE});
  }
}

TEST_CASE("flatten_rows: means along other axes stay") {
  Net net;
  const OperandId a = net.reshape(net.fully_connected(net.input({6, 5}), 4), {2, 3, 4});
  net.output(net.reshape(net.mean(a, {1}, true), {2, 4}));
  check_flattened(
      net, {OperationCode::FULLY_CONNECTED, OperationCode::RESHAPE, OperationCode::MEAN, OperationCode::RESHAPE});
}
