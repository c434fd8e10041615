// SPDX-License-Identifier: BSD-3-Clause
// Which floats are whole numbers on their way to indices.
#include "lib/quantise/index_arithmetic.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;

namespace {

OperandId integers(Net& net) {
  const OperandId x = net.input({4, 8});
  net.model.at(x).type = OperandCode::TENSOR_INT32;
  return x;
}

OperandId cast(Net& net, OperandId x, OperandCode type) {
  const OperandId result = net.unary(OperationCode::CAST, x);
  net.model.at(result).type = type;
  return result;
}

}  // namespace

TEST_CASE("index_arithmetic: floats between integers") {
  Net net;
  const OperandId counted = cast(net, integers(net), OperandCode::TENSOR_FLOAT32);
  const OperandId sum = net.fully_connected(counted, 8);
  net.output(cast(net, net.binary(OperationCode::MUL, sum, counted), OperandCode::TENSOR_INT32));
  net.output(net.fully_connected(sum, 3));  // stays a float
  CHECK(index_arithmetic(net.model) == std::vector<bool>{false, true, true, true, false});
}

TEST_CASE("index_arithmetic: results of a network that become integers are none") {
  Net net;
  const OperandId scores = net.fully_connected(net.input({4, 8}), 8);
  const OperandId counted = cast(net, integers(net), OperandCode::TENSOR_FLOAT32);
  net.output(cast(net, net.binary(OperationCode::MUL, scores, counted), OperandCode::TENSOR_INT32));
  CHECK(index_arithmetic(net.model) == std::vector<bool>(4, false));
}
