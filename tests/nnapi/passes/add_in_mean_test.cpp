// SPDX-License-Identifier: BSD-3-Clause
// A MEAN along the last axis and a number that is added become one layer with constant weights.
#include "lib/nnapi/passes/add_in_mean.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

OperandId plus(Net& net, OperandId x, float number) {
  return net.binary(OperationCode::ADD, x, net.builder.tensor(Constant::of_floats({number})));
}

void check_left(Net& net, const std::vector<OperationCode>& left, int feature_level = 3) {
  testing::check_keeps_results(net, [&](Model& model) {
    add_in_mean(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
  CHECK(validate(net.model, feature_level).empty());
}

}  // namespace

TEST_CASE("add_in_mean: of a matrix by FULLY_CONNECTED") {
  Net net;
  net.output(plus(net, net.mean(net.input({5, 7}), {1}, true), 0.25f));
  check_left(net, {OperationCode::FULLY_CONNECTED});
}

TEST_CASE("add_in_mean: of an image by CONV_2D") {
  for (const int level : {2, 3}) {
    Net net;
    net.output(plus(net, net.mean(net.input({2, 3, 4, 7}), {-1}, true), 0.25f));
    check_left(net, {OperationCode::CONV_2D}, level);
  }
}

TEST_CASE("add_in_mean: other means and sums stay") {
  const std::vector<OperationCode> both{OperationCode::MEAN, OperationCode::ADD};
  Net rows;
  rows.output(plus(rows, rows.mean(rows.input({5, 7}), {0}, true), 1));
  check_left(rows, both);

  Net three_axes;  // a matrix of the results would need a RESHAPE
  three_axes.output(plus(three_axes, three_axes.mean(three_axes.input({2, 5, 7}), {2}, true), 1));
  check_left(three_axes, both);

  Net removed;
  removed.output(plus(removed, removed.mean(removed.input({5, 7}), {1}, false), 1));
  check_left(removed, both);

  Net vector;
  vector.output(
      vector.binary(OperationCode::ADD, vector.mean(vector.input({5, 7}), {1}, true), vector.weights({1, 3})));
  check_left(vector, both);

  Net read_twice;
  const OperandId mean = read_twice.mean(read_twice.input({5, 7}), {1}, true);
  read_twice.output(plus(read_twice, mean, 1));
  read_twice.output(mean);
  check_left(read_twice, both);

  Net wide;  // the model would hold a weight for each
  wide.output(plus(wide, wide.mean(wide.input({1, 5000}), {1}, true), 1));
  check_left(wide, both);

  Net flexible;  // the weights need a number of channels
  Operand type = testing::float_type({Dim(5), Dim::of_input(0, 1)});
  const OperandId x = flexible.builder.variable(type);
  flexible.model.inputs.push_back({x});
  flexible.output(plus(flexible, flexible.mean(x, {1}, true), 1));
  add_in_mean(flexible.model);
  CHECK(codes(flexible.model) == both);
}
