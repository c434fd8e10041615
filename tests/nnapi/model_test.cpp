// SPDX-License-Identifier: BSD-3-Clause
// Uses of operands, replacing reads, kinds of types, permutations.
#include "lib/nnapi/model.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/permutation.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::Net;

TEST_CASE("Uses: producers, and readers by operations and outputs") {
  Net net;
  const OperandId x = net.input({4});
  const OperandId y = net.unary(OperationCode::RELU, x);
  const OperandId z = net.binary(OperationCode::ADD, y, y);
  net.output(y);
  net.output(z);
  const Uses uses(net.model);
  CHECK(uses.producer[static_cast<size_t>(x)] == -1);
  CHECK(uses.producer[static_cast<size_t>(y)] == 0);
  CHECK(uses.producer[static_cast<size_t>(z)] == 1);
  CHECK(uses.readers[static_cast<size_t>(x)] == 1);
  CHECK(uses.readers[static_cast<size_t>(y)] == 3);  // both arguments of ADD and an output
  CHECK(uses.readers[static_cast<size_t>(z)] == 1);
}

TEST_CASE("replace_reads: operations and outputs, not producers") {
  Net net;
  const OperandId x = net.input({4});
  const OperandId y = net.unary(OperationCode::RELU, x);
  const OperandId z = net.binary(OperationCode::ADD, y, y);
  net.output(y);
  net.output(z);
  replace_reads(net.model, y, x);
  CHECK(net.model.operations[0].outputs == std::vector<OperandId>{y});
  CHECK(net.model.operations[1].inputs[0] == x);
  CHECK(net.model.operations[1].inputs[1] == x);
  CHECK(net.model.outputs[0].operand == x);
  CHECK(net.model.outputs[1].operand == z);
}

TEST_CASE("kinds of operand types") {
  CHECK(is_tensor(OperandCode::TENSOR_FLOAT32));
  CHECK(is_tensor(OperandCode::TENSOR_BOOL8));
  CHECK_FALSE(is_tensor(OperandCode::FLOAT32));
  CHECK_FALSE(is_tensor(OperandCode::INT32));
  CHECK_FALSE(is_tensor(OperandCode::UINT32));
  CHECK_FALSE(is_tensor(OperandCode::BOOL));
  CHECK_FALSE(is_tensor(OperandCode::FLOAT16));
  CHECK_FALSE(is_tensor(OperandCode::MODEL));
  CHECK(is_quant8(OperandCode::TENSOR_QUANT8_ASYMM));
  CHECK(is_quant8(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED));
  CHECK_FALSE(is_quant8(OperandCode::TENSOR_INT32));
}

TEST_CASE("permutations and their inverses") {
  const std::vector<char> nchw = {'N', 'C', 'H', 'W'};
  CHECK(permute(nchw, kToNhwc) == std::vector<char>{'N', 'H', 'W', 'C'});
  CHECK(permute(permute(nchw, kToNhwc), kToNchw) == nchw);
  CHECK(inverse(kToNhwc) == kToNchw);
  CHECK(inverse({2, 0, 1}) == std::vector<int64_t>{1, 2, 0});
}
