// SPDX-License-Identifier: BSD-3-Clause
// Dropping what nobody reads, storing equal constants once.
#include "lib/nnapi/passes/compact.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/dump.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

// The sum of a tensor and each of `constants`, to be read by compact().
void add_each(Net& net, const std::vector<OperandId>& constants) {
  OperandId y = net.input({2});
  for (const OperandId constant : constants) y = net.binary(OperationCode::ADD, y, constant);
  net.output(y);
}

// How many constants are left of those added to a tensor, the activation's 0 aside.
size_t constants_left(Net& net) {
  compact(net.model);
  size_t count = 0;
  for (const Operand& operand : net.model.operands) count += operand.is_constant() ? 1 : 0;
  return count - 1;
}

}  // namespace

TEST_CASE("compact: operations that no output needs are dropped, with what only they needed") {
  Net net;
  const OperandId x = net.input({2, 4});
  const OperandId dead = net.fully_connected(x, 8);
  net.softmax(net.unary(OperationCode::RELU, dead), 1);
  net.output(net.unary(OperationCode::TANH, x));
  compact(net.model);
  CHECK(codes(net.model) == std::vector<OperationCode>{OperationCode::TANH});
  CHECK(net.model.operands.size() == 2);
}

TEST_CASE("compact: an operation stays if one of its outputs is read") {
  Net net;
  const auto parts = net.builder.add(OperationCode::SPLIT, {net.input({4}), net.builder.int32(0), net.builder.int32(2)},
                                     {testing::float_type({2}), testing::float_type({2})});
  net.output(parts[1]);
  compact(net.model);
  REQUIRE(net.model.operations.size() == 1);
  CHECK(net.model.operations[0].outputs.size() == 2);
  CHECK(net.model.outputs[0].operand == net.model.operations[0].outputs[1]);
}

TEST_CASE("compact: constants that differ in any element are two") {
  Net net;
  std::vector<float> numbers(1000, 1.5f);
  const OperandId first = net.builder.tensor(Constant::of_floats(numbers));
  numbers[300] = 2;  // beyond what the hash reads
  add_each(net, {first, net.builder.tensor(Constant::of_floats(numbers))});
  CHECK(constants_left(net) == 2);
}

TEST_CASE("compact: unread inputs are dropped, the others keep their argument numbers") {
  Net net;
  net.input({3});
  const OperandId second = net.input({2, 4}, true);
  net.input({5});
  net.output(net.unary(OperationCode::RELU, second));
  compact(net.model);
  REQUIRE(net.model.inputs.size() == 1);
  CHECK(net.model.inputs[0].argument == 1);
  CHECK(net.model.inputs[0].nhwc);
  CHECK(net.model.at(net.model.inputs[0].operand).dims == Dims{2, 4});
}

TEST_CASE("compact: operands are numbered in the order of their first use, inputs first") {
  Net net;
  const OperandId constant = net.weights({2});
  const OperandId other = net.weights({2});
  const OperandId x = net.input({2});
  net.output(net.binary(OperationCode::ADD, other, net.binary(OperationCode::ADD, x, constant)));
  compact(net.model);
  CHECK(net.model.inputs[0].operand == 0);
  CHECK(net.model.operations[0].inputs == std::vector<OperandId>{0, 1, 2});
  CHECK(net.model.operations[0].outputs == std::vector<OperandId>{3});
  CHECK(net.model.operations[1].inputs == std::vector<OperandId>{4, 3, 2});
  CHECK(net.model.outputs[0].operand == 5);
  CHECK(net.model.operands.size() == 6);
}

TEST_CASE("compact: weights of equal bytes and recipes are stored once") {
  Net net;
  const Constant value = Constant::of_floats({1, 2});
  add_each(net,
           {net.builder.tensor(value), net.builder.tensor(value), net.builder.tensor(Constant::of_floats({1, 2})),
            net.builder.tensor(Constant::of_floats({1, 3})), net.builder.tensor(Constant::of_floats({1, 2}, {1, 2})),
            net.builder.tensor(value.then(Reshape{{1, 2}}).then(Permute{{1, 0}}).then(Reshape{{2}}))});
  CHECK(constants_left(net) == 4);
}

TEST_CASE("compact: recipes with other numbers are other weights") {
  Net net;
  const Constant value = Constant::of_floats({1, 2});
  const auto scaled = [&](std::vector<float> factors) {
    return net.builder.tensor(value.then(ScaleAxis{0, std::make_shared<const std::vector<float>>(std::move(factors))}));
  };
  add_each(net, {scaled({1, 2}), scaled({1, 3}), scaled({1, 2})});
  CHECK(constants_left(net) == 2);
}

TEST_CASE("compact: equal bytes with another quantisation are other weights") {
  Net net;
  const Constant value = Constant::of_floats({1, 2});
  add_each(net, {net.builder.tensor(value, 0.5f, 1), net.builder.tensor(value, 0.5f, 1),
                 net.builder.tensor(value, 0.25f, 1), net.builder.tensor(value, 0.5f, 2)});
  CHECK(constants_left(net) == 3);
}

TEST_CASE("compact: scalars and integer tensors are shared by type, shape and value") {
  Net net;
  const OperandId x = net.input({2});
  std::vector<OperandId> arguments = {x};
  for (int i = 0; i < 2; ++i) {  // each twice
    arguments.push_back(net.builder.int32(1));
    arguments.push_back(net.builder.int32(Dim::of_input(0, 0)));
    arguments.push_back(net.builder.int32(Dim::of_input(0, 1)));
    arguments.push_back(net.builder.int32_tensor({1}));
    arguments.push_back(net.builder.int32_tensor({1, 2}));
    arguments.push_back(net.builder.int32_tensor({1, 2}, {1, 2}));
    arguments.push_back(net.builder.boolean(true));
    arguments.push_back(net.builder.boolean(false));
    arguments.push_back(net.builder.float32(1));
    arguments.push_back(net.builder.float32(1.0000001f));
    arguments.push_back(net.builder.float32(0.0f));
    arguments.push_back(net.builder.float32(-0.0f));
  }
  net.output(net.builder.add(OperationCode::LSTM, arguments, testing::float_type({2})));
  compact(net.model);
  const std::vector<OperandId>& inputs = net.model.operations[0].inputs;
  CHECK(std::vector<OperandId>(inputs.begin() + 1, inputs.begin() + 13) ==
        std::vector<OperandId>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(std::vector<OperandId>(inputs.begin() + 13, inputs.end()) ==
        std::vector<OperandId>(inputs.begin() + 1, inputs.begin() + 13));
}

TEST_CASE("compact: variables of equal type stay apart") {
  Net net;
  const OperandId x = net.input({2});
  net.output(net.binary(OperationCode::ADD, net.unary(OperationCode::RELU, x), net.unary(OperationCode::RELU, x)));
  compact(net.model);
  const Operation& add = testing::the(net.model, OperationCode::ADD);
  CHECK(add.inputs[0] != add.inputs[1]);
}

TEST_CASE("compact: doing it twice changes nothing more") {
  Net net;
  net.output(net.softmax(net.mean(net.conv(net.input({1, 3, 4, 4}), 4), {2, 3}, false), 1));
  compact(net.model);
  const std::string once = to_text(net.model);
  const size_t operands = net.model.operands.size();
  compact(net.model);
  CHECK(to_text(net.model) == once);
  CHECK(net.model.operands.size() == operands);
}
