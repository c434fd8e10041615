// SPDX-License-Identifier: BSD-3-Clause
// NNAPI's rules: scales of quantised operations, feature levels, empty models.
#include "lib/nnapi/validate.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::Net;
using testing::quant_type;

namespace {

using Problems = std::vector<std::string>;

Constant zeros(DataType type, std::vector<int64_t> shape) {
  auto owner = std::make_shared<const std::vector<int32_t>>(1024, 0);
  const void* data = owner->data();
  return Constant(type, std::move(shape), data, std::move(owner));
}

// FULLY_CONNECTED with the given scales; input 0.5.
void add_fully_connected(Net& net, float weight_scale, float bias_scale, float output_scale) {
  const OperandId x = net.builder.variable(quant_type({2, 8}, 0.5f, 10));
  const OperandId weights = net.builder.tensor(zeros(DataType::kUInt8, {4, 8}), weight_scale, 128);
  const OperandId bias = net.builder.tensor(zeros(DataType::kInt32, {4}), bias_scale);
  net.builder.add(OperationCode::FULLY_CONNECTED, {x, weights, bias, net.builder.int32(0)},
                  quant_type({2, 4}, output_scale));
}

void add_mul(Net& net, float output_scale) {
  const OperandId a = net.builder.variable(quant_type({2}, 0.5f));
  const OperandId b = net.builder.variable(quant_type({2}, 0.25f));
  net.builder.add(OperationCode::MUL, {a, b, net.builder.int32(0)}, quant_type({2}, output_scale));
}

void add_concatenation(Net& net, const Operand& second) {
  const OperandId a = net.builder.variable(quant_type({2}, 0.5f, 7));
  const OperandId b = net.builder.variable(second);
  net.builder.add(OperationCode::CONCATENATION, {a, b, net.builder.int32(0)}, quant_type({4}, 0.5f, 7));
}

}  // namespace

TEST_CASE("validate: a valid model has no problem") {
  Net net;
  const OperandId x = net.conv(net.input({1, 3, 8, 8}), 4);
  net.output(net.softmax(net.mean(x, {2, 3}, false), 1));
  CHECK(validate(net.model, 3).empty());
  CHECK(required_feature_level(net.model) == 3);
}

TEST_CASE("validate: a model without operations") {
  CHECK(validate(Model{}, 3) == Problems{"the model has no operation"});
  CHECK(required_feature_level(Model{}) == 1);
}

TEST_CASE("validate: operations that break a rule alike are one sentence") {
  Net net;
  for (int i = 0; i < 3; ++i) add_mul(net, 0.1f);
  add_fully_connected(net, 0.5f, 0.3f, 4.f);
  const Problems each = validate(net.model, 3), together = summary_of(violations(net.model, 3));
  REQUIRE(each.size() == 4);
  const std::string first = each[0].substr(0, each[0].find(": "));
  CHECK(together == Problems{first + " and 2 others" + each[0].substr(first.size()), each[3]});
}

TEST_CASE("validate: outputs that nothing computes") {
  Net net;
  const OperandId x = net.input({1, 3, 8, 8});
  net.output(net.softmax(x, 1));
  net.output(net.builder.tensor(zeros(DataType::kFloat32, {4})));
  net.output(x);
  CHECK(validate(net.model, 3) == Problems{"output 1 is a constant", "output 2 is an input of the model"});
}

TEST_CASE("validate: sizes that NNAPI takes for unknown ones, and more bytes than it counts") {
  const auto problems = [](const Dims& dims) {
    Net net;
    net.output(net.builder.add(OperationCode::RELU, {net.input(dims)}, testing::float_type(dims)));
    return validate(net.model, 3);
  };
  CHECK(problems({2, 3}).empty());
  CHECK(problems({32768, 32767}).empty());
  const std::string where = "operation 0 (RELU): TENSOR_FLOAT32";
  CHECK(problems({0, 3}) == Problems{where + "[0, 3] found, sizes of 1 or more needed"});
  CHECK(problems({32768, 32768}) == Problems{where + "[32768, 32768] found, 4294967295 bytes at most needed"});
  CHECK(problems({2000000000, 2000000000, 3}) ==
        Problems{where + "[2000000000, 2000000000, 3] found, 4294967295 bytes at most needed"});
  CHECK(problems({Dim::of_input(0, 0), 3}).empty());
  Net constant;
  const OperandId empty = constant.builder.tensor(zeros(DataType::kFloat32, {0, 3}));
  const OperandId x = constant.input({2, 3});
  constant.output(constant.builder.add(OperationCode::CONCATENATION, {empty, x, constant.builder.int32(0)},
                                       testing::float_type({2, 3})));
  CHECK(validate(constant.model, 3) ==
        Problems{"operation 0 (CONCATENATION): TENSOR_FLOAT32[0, 3] found, sizes of 1 or more needed"});
}

TEST_CASE("validate: feature levels") {
  Net net;
  const OperandId x = net.unary(OperationCode::RELU, net.input({1, 3, 8, 8}));
  net.builder.set_source("net.py:7");
  net.conv(x, 4);
  CHECK(validate(net.model, 2) ==
        Problems{"operation 1 (CONV_2D) from net.py:7: feature level 2 found, 3 needed for these arguments"});
  CHECK(validate(net.model, 3).empty());
  net.model.operations[1].inputs.pop_back();
  CHECK(validate(net.model, 1).empty());
  CHECK(required_feature_level(net.model) == 1);
}

TEST_CASE("validate: every operation's problem is reported") {
  Net net;
  const OperandId x = net.input({2, 3});
  net.builder.add(OperationCode::RELU, {x, x}, testing::float_type({2, 3}));
  net.unary(OperationCode::RELU, x);
  net.unary(OperationCode::LSTM, x);
  net.unary(static_cast<OperationCode>(9999), x);
  CHECK(validate(net.model, 8) == Problems{"operation 0 (RELU): the operation takes no such number of arguments",
                                           "operation 2 (LSTM): the operation takes no such number of arguments",
                                           "operation 3 (unknown): the operations table doesn't describe it"});
}

TEST_CASE("validate: strides and sizes of windows are 1 or more") {
  Net net;
  net.output(net.max_pool(net.input({1, 3, 4, 4})));
  CHECK(validate(net.model, 8).empty());
  const std::vector<std::pair<size_t, std::string>> arguments = {{5, "stride_width"}, {8, "filter_height"}};
  for (const auto& [input, name] : arguments) {
    Model changed = net.model;
    changed.operations[0].inputs[input] = Builder(changed).int32(0);
    CHECK(validate(changed, 8) ==
          Problems{"operation 0 (MAX_POOL_2D): argument " + name + ": 0 found, 1 or more needed"});
  }
}

TEST_CASE("validate: a bias has the scale of input times weights") {
  Net good;
  add_fully_connected(good, 0.25f, 0.125f, 1);
  CHECK(validate(good.model, 3).empty());
  Net bad;
  add_fully_connected(bad, 0.25f, 0.25f, 1);
  CHECK(validate(bad.model, 3) ==
        Problems{"operation 0 (FULLY_CONNECTED): argument bias: scale 0.25 found, input scale "
                 "times weight scale = 0.125 needed"});
  Net slightly_off;
  add_fully_connected(slightly_off, 0.25f, 0.12501f, 1);
  CHECK(validate(slightly_off.model, 3).size() == 1);
}

TEST_CASE("validate: below feature level 3 the output's scale is more than the product of the input scales") {
  Net net;
  add_fully_connected(net, 0.25f, 0.125f, 0.125f);
  CHECK(validate(net.model, 3).empty());
  CHECK(validate(net.model, 2) ==
        Problems{"operation 0 (FULLY_CONNECTED): the output's scale 0.125 found, more than the "
                 "product of the input scales 0.125 needed"});
}

TEST_CASE("validate: MUL needs an output scale above the product at every level") {
  Net good;
  add_mul(good, 0.126f);
  CHECK(validate(good.model, 8).empty());
  Net bad;
  add_mul(bad, 0.125f);
  CHECK(validate(bad.model, 8) ==
        Problems{"operation 0 (MUL): the output's scale 0.125 found, more than the product of "
                 "the input scales 0.125 needed"});
}

TEST_CASE("validate: CONCATENATION needs equal scales and zero points below feature level 3") {
  Net equal;
  add_concatenation(equal, quant_type({2}, 0.5f, 7));
  CHECK(validate(equal.model, 1).empty());
  for (const Operand& second : {quant_type({2}, 0.25f, 7), quant_type({2}, 0.5f, 8)}) {
    Net net;
    add_concatenation(net, second);
    CHECK(validate(net.model, 3).empty());
    CHECK(validate(net.model, 2) ==
          Problems{"operation 0 (CONCATENATION): unequal scales found, equal ones needed below "
                   "feature level 3"});
  }
}

TEST_CASE("validate: scales of float operations mean nothing") {
  Net net;
  net.binary(OperationCode::MUL, net.input({2}), net.input({2}));
  net.fully_connected(net.input({2, 3}), 4);
  CHECK(validate(net.model, 1).empty());
}
