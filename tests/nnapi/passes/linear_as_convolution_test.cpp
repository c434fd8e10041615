// SPDX-License-Identifier: BSD-3-Clause
// Linear layers between images become CONV_2D, where that spares a RESHAPE.
#include "lib/nnapi/passes/linear_as_convolution.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

constexpr OperationCode kSum = OperationCode::ADD, kProduct = OperationCode::MUL, kPointwise = OperationCode::CONV_2D,
                        kLayer = OperationCode::FULLY_CONNECTED, kReshape = OperationCode::RESHAPE,
                        kRelu = OperationCode::RELU;

void check_left(Net& net, const std::vector<OperationCode>& left, int feature_level = 3) {
  testing::check_keeps_results(net, [&](Model& model) {
    linear_as_convolution(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
  CHECK(validate(net.model, feature_level).empty());
}

// x * relu(x + number) of a matrix.
OperandId gated(Net& net, OperandId x) {
  return net.binary(kProduct, x, net.unary(kRelu, net.binary(kSum, x, net.weights({1}))));
}

}  // namespace

TEST_CASE("linear_as_convolution: two layers and what is between them") {
  for (const int level : {1, 3}) {
    Net net;
    const OperandId x = net.input({2, 3, 4, 7});
    const OperandId hidden = gated(net, net.fully_connected(x, 9));
    const OperandId image = net.reshape(net.fully_connected(hidden, 7), {2, 3, 4, 7});
    net.output(net.binary(kSum, image, x));
    check_left(net, {kPointwise, kSum, kRelu, kProduct, kPointwise, kSum}, level);
  }
}

TEST_CASE("linear_as_convolution: an elementwise operation comes last, with a number for each channel") {
  Net net;
  const OperandId rows = net.fully_connected(net.input({1, 3, 4, 7}), 5);
  net.output(net.reshape(net.binary(kProduct, rows, net.weights({5})), {1, 3, 4, 5}));
  check_left(net, {kPointwise, kProduct});
}

TEST_CASE("linear_as_convolution: two regions after each other") {
  Net net;
  OperandId x = net.input({1, 3, 4, 7});
  for (int layer = 0; layer < 2; ++layer) x = net.reshape(net.fully_connected(x, 7), {1, 3, 4, 7});
  net.output(x);
  check_left(net, {kPointwise, kPointwise});
}

TEST_CASE("linear_as_convolution: a matrix with another reader stays one") {
  Net net;
  const OperandId rows = net.fully_connected(net.input({1, 3, 4, 7}), 5);
  net.output(net.reshape(net.unary(kRelu, rows), {1, 3, 4, 5}));
  net.output(rows);
  check_left(net, {kLayer, kRelu, kReshape});

  Net twice;
  const OperandId read = twice.fully_connected(twice.input({1, 3, 4, 7}), 5);
  twice.output(twice.reshape(read, {1, 3, 4, 5}));
  twice.output(twice.reshape(read, {3, 1, 4, 5}));
  check_left(twice, {kLayer, kReshape, kReshape});
}

TEST_CASE("linear_as_convolution: other places, other beginnings") {
  Net places;  // the input's places are others than the result's
  places.output(places.reshape(places.fully_connected(places.input({1, 4, 3, 7}), 5), {1, 3, 4, 5}));
  check_left(places, {kLayer, kReshape});

  Net matrix;  // an image of the input would need a RESHAPE
  matrix.output(matrix.reshape(matrix.fully_connected(matrix.input({12, 7}), 5), {1, 3, 4, 5}));
  check_left(matrix, {kLayer, kReshape});

  Net heads;  // the RESHAPE splits the channels
  heads.output(heads.reshape(heads.fully_connected(heads.input({1, 3, 4, 6}), 6), {12, 1, 2, 3}));
  check_left(heads, {kLayer, kReshape});

  Net rows;  // a constant with a number for each row
  const OperandId product =
      rows.binary(kProduct, rows.fully_connected(rows.input({1, 3, 4, 7}), 5), rows.weights({12, 5}));
  rows.output(rows.reshape(product, {1, 3, 4, 5}));
  check_left(rows, {kLayer, kProduct, kReshape});
}
