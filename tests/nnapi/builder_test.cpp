// SPDX-License-Identifier: BSD-3-Clause
// The builder's operands and operations.
#include "lib/nnapi/builder.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;

TEST_CASE("Builder: scalars") {
  Model model;
  Builder builder(model);
  const Operand& number = model.at(builder.int32(7));
  CHECK(number.type == OperandCode::INT32);
  CHECK(number.dims.empty());
  CHECK(*number.ints() == Dims{7});
  const Operand& flag = model.at(builder.boolean(true));
  CHECK(flag.type == OperandCode::BOOL);
  CHECK(std::get<bool>(flag.value));
  const Operand& real = model.at(builder.float32(0.5f));
  CHECK(real.type == OperandCode::FLOAT32);
  CHECK(std::get<float>(real.value) == 0.5f);
  CHECK(model.operands.size() == 3);
}

TEST_CASE("Builder: integer tensors may hold expressions") {
  Model model;
  Builder builder(model);
  const Dim height = Dim::of_input(0, 2);
  const Operand& vector = model.at(builder.int32_tensor({1, height}));
  CHECK(vector.type == OperandCode::TENSOR_INT32);
  CHECK(vector.dims == Dims{2});
  CHECK(*vector.ints() == Dims{1, height});
  CHECK(vector.constant() == nullptr);
  CHECK(model.at(builder.int32_tensor({1, 2, 3, 4}, {2, 2})).dims == Dims{2, 2});
}

TEST_CASE("Builder: weights have the operand type of their data type") {
  Model model;
  Builder builder(model);
  const Operand& weights = model.at(builder.tensor(Constant::of_floats({1, 2}, {1, 2}), 0.5f, 3));
  CHECK(weights.type == OperandCode::TENSOR_FLOAT32);
  CHECK(weights.dims == Dims{1, 2});
  CHECK(weights.scale == 0.5f);
  CHECK(weights.zero_point == 3);
  CHECK(weights.is_constant());
  CHECK(operand_code(DataType::kFloat32) == OperandCode::TENSOR_FLOAT32);
  CHECK(operand_code(DataType::kInt32) == OperandCode::TENSOR_INT32);
  CHECK(operand_code(DataType::kUInt8) == OperandCode::TENSOR_QUANT8_ASYMM);
  CHECK(operand_code(DataType::kInt8) == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
  CHECK(operand_code(DataType::kBool) == OperandCode::TENSOR_BOOL8);
}

TEST_CASE("Builder: a variable has no value, even when its type came from a constant") {
  Model model;
  Builder builder(model);
  const OperandId constant = builder.tensor(Constant::of_floats({1, 2}), 0.5f, 3);
  const Operand& variable = model.at(builder.variable(model.at(constant)));
  CHECK_FALSE(variable.is_constant());
  CHECK(variable.scale == 0.5f);
  CHECK(model.at(constant).is_constant());
}

TEST_CASE("Builder: operations come in order, with new outputs and the source line of the time") {
  Model model;
  Builder builder(model);
  const OperandId x = builder.variable(testing::float_type({2}));
  builder.set_source("net.py:1");
  const OperandId y = builder.add(OperationCode::RELU, {x}, testing::float_type({2}));
  builder.set_source("net.py:2");
  const auto parts = builder.add(OperationCode::SPLIT, {y, builder.int32(0), builder.int32(2)},
                                 {testing::float_type({1}), testing::float_type({1})});
  REQUIRE(model.operations.size() == 2);
  CHECK(model.operations[0].inputs == std::vector<OperandId>{x});
  CHECK(model.operations[0].outputs == std::vector<OperandId>{y});
  CHECK(model.operations[0].source == "net.py:1");
  CHECK(model.operations[1].code == OperationCode::SPLIT);
  CHECK(model.operations[1].outputs == parts);
  CHECK(parts.size() == 2);
  CHECK(parts[0] != parts[1]);
  CHECK(model.operations[1].source == "net.py:2");
}
