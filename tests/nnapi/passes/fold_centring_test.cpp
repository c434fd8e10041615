// SPDX-License-Identifier: BSD-3-Clause
// Layers before layer norms lose their means along the channels, the layer norms their MEAN and SUB, and the model
// computes the same.
#include "lib/nnapi/passes/fold_centring.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

constexpr int64_t kRows = 6, kChannels = 8;

OperandId centred(Net& net, OperandId x, int64_t axis) {
  return net.binary(OperationCode::SUB, x, net.mean(x, {axis}, true));
}

// A layer norm, without scale and shift, and with RELU in place of RSQRT.
OperandId layer_norm(Net& net, OperandId x, int64_t axis = 1) {
  const OperandId centre = centred(net, x, axis);
  const OperandId variance = net.mean(net.binary(OperationCode::MUL, centre, centre), {axis}, true);
  const OperandId shifted = net.binary(OperationCode::ADD, variance, net.builder.tensor(Constant::of_floats({0.5f})));
  return net.binary(OperationCode::MUL, centre, net.unary(OperationCode::RELU, shifted));
}

OperandId layer(Net& net, OperandId x) {
  return net.fully_connected(x, kChannels);
}

// Runs the pass, and checks how many centrings are left.
void fold(Net& net, size_t left) {
  testing::check_keeps_results(net, [](Model& model) {
    fold_centring(model);
    compact(model);
  });
  CHECK(count(net.model, OperationCode::SUB) == left);
}

}  // namespace

TEST_CASE("fold_centring: a residual stream that only layer norms read") {
  Net net;
  OperandId stream = net.binary(OperationCode::ADD, layer(net, net.input({kRows, 5})), net.weights({kRows, kChannels}));
  for (int block = 0; block < 2; ++block) {
    stream = net.binary(OperationCode::ADD, stream, layer(net, layer_norm(net, stream)));
  }
  net.output(layer(net, layer_norm(net, stream)));
  fold(net, 0);
  CHECK(count(net.model, OperationCode::MEAN) == 3);
}

TEST_CASE("fold_centring: tokens that are joined, moved and gathered") {
  Net net;
  const OperandId tokens = net.reshape(layer(net, net.input({kRows, 5})), {1, kRows, kChannels});
  const OperandId joined = net.concatenation({net.weights({1, 1, kChannels}), tokens}, 1);
  const OperandId moved = net.transpose(net.reshape(joined, {kRows + 1, kChannels}), {1, 0});
  net.output(layer(net, net.transpose(layer_norm(net, moved, 0), {1, 0})));
  fold(net, 0);
}

TEST_CASE("fold_centring: a convolution before a layer norm of its channels") {
  Net net;
  const OperandId rows = net.transpose(net.conv(net.input({1, 3, 4, 4}), kChannels), {0, 2, 3, 1});
  net.output(net.fully_connected(net.reshape(layer_norm(net, rows, 3), {16, kChannels}), 4));
  fold(net, 0);
}

TEST_CASE("fold_centring: what others read keeps its mean") {
  const auto with_other_reader = [](OperationCode code) {
    Net net;
    const OperandId stream = layer(net, net.input({kRows, 5}));
    net.output(layer(net, layer_norm(net, stream)));
    net.output(net.unary(code, stream));
    fold(net, 1);
  };
  with_other_reader(OperationCode::RELU);
  with_other_reader(OperationCode::RELU1);

  Net output;
  const OperandId result = layer(output, output.input({kRows, 5}));
  output.output(layer(output, layer_norm(output, result)));
  output.output(result);
  fold(output, 1);

  Net sum;  // the sum is no layer norm's alone
  const OperandId first = layer(sum, sum.input({kRows, 5}));
  sum.output(layer(sum, layer_norm(sum, first)));
  sum.output(sum.unary(OperationCode::RELU, sum.binary(OperationCode::ADD, first, sum.weights({kChannels}))));
  fold(sum, 1);
}

TEST_CASE("fold_centring: constants that others read keep their mean") {
  const auto rows_of_table = [](Net& net) {
    const OperandId rows = net.builder.int32_tensor({Dim(3), Dim(1), Dim(0), Dim(3), Dim(2), Dim(1)});
    const Operand gathered = net.model.at(net.weights({kRows, kChannels}));
    const OperandId result = net.builder.variable(gathered);
    net.model.operations.push_back(
        {OperationCode::GATHER, {net.weights({4, kChannels}), net.builder.int32(0), rows}, {result}, ""});
    return result;
  };
  Net table;  // an embedding that goes out, and through a layer norm
  const OperandId rows = rows_of_table(table);
  table.output(layer(table, layer_norm(table, rows)));
  table.output(table.binary(OperationCode::ADD, rows, table.input({kRows, kChannels})));
  fold(table, 1);

  Net sum;  // the sum is a layer norm's alone, what is added isn't
  const OperandId added = rows_of_table(sum);
  sum.output(layer(sum, layer_norm(sum, sum.binary(OperationCode::ADD, layer(sum, sum.input({kRows, 5})), added))));
  sum.output(sum.binary(OperationCode::MUL, added, sum.input({kRows, kChannels})));
  fold(sum, 1);
}

TEST_CASE("fold_centring: sums with what has a mean keep their centring") {
  Net net;
  const OperandId first = layer(net, net.input({kRows, 5}));
  const OperandId second = net.binary(OperationCode::ADD, first, net.input({kRows, kChannels}));
  net.output(layer(net, layer_norm(net, first)));
  net.output(layer(net, layer_norm(net, second)));
  fold(net, 1);

  Net number;  // one number for all channels is all mean
  const OperandId layered = layer(number, number.input({kRows, 5}));
  const OperandId sum =
      number.binary(OperationCode::ADD, layered, number.builder.tensor(Constant::of_floats({3}, {1, 1})));
  number.output(layer(number, layer_norm(number, sum)));
  fold(number, 1);
}

TEST_CASE("fold_centring: another mean than that of the channels stays") {
  Net net;
  const OperandId stream = layer(net, net.input({kRows, 5}));
  net.output(layer(net, layer_norm(net, stream, 0)));
  fold(net, 1);

  Net joined;  // the mean of twice as many channels
  const OperandId parts =
      joined.concatenation({layer(joined, joined.input({kRows, 5})), layer(joined, joined.input({kRows, 5}))}, 1);
  joined.output(layer(joined, layer_norm(joined, parts)));
  fold(joined, 1);
}
