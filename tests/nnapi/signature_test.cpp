// SPDX-License-Identifier: BSD-3-Clause
// Tests the search for an operation's signature in the operations table, and the message if none fits.
#include "lib/nnapi/signature.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::float_type;
using testing::Net;

namespace {

std::string problem(const Net& net) {
  return match_signature(net.model, net.model.operations.back()).problem;
}

}  // namespace

TEST_CASE("match_signature: arguments decide between explicit and implicit padding") {
  Net net;
  net.conv(net.input({1, 3, 8, 8}), 4);
  SignatureMatch match = match_signature(net.model, net.model.operations[0]);
  REQUIRE(match.signature != nullptr);
  CHECK(std::string(match.signature->name) == "explicit_padding");
  auto& inputs = net.model.operations[0].inputs;
  inputs.erase(inputs.begin() + 4, inputs.begin() + 7);  // one padding argument is left: the scheme
  match = match_signature(net.model, net.model.operations[0]);
  REQUIRE(match.signature != nullptr);
  CHECK(std::string(match.signature->name) == "implicit_padding");
}

TEST_CASE("match_signature: optional arguments raise the feature level") {
  Net net;
  net.conv(net.input({1, 3, 8, 8}), 4);
  CHECK(match_signature(net.model, net.model.operations[0]).feature_level == 3);  // the layout flag
  net.model.operations[0].inputs.pop_back();
  CHECK(match_signature(net.model, net.model.operations[0]).feature_level == 1);
}

TEST_CASE("match_signature: types and operations raise the feature level") {
  Net net;
  const OperandId x = net.input({2, 3});
  net.unary(OperationCode::RELU, x);
  CHECK(match_signature(net.model, net.model.operations[0]).feature_level == 1);
  for (const OperandId id : {net.model.operations[0].inputs[0], net.model.operations[0].outputs[0]}) {
    net.model.at(id).type = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
  }
  CHECK(match_signature(net.model, net.model.operations[0]).feature_level == 4);
  net.unary(OperationCode::EXP, net.input({2}));
  CHECK(match_signature(net.model, net.model.operations[1]).feature_level == 3);
  net.mean(net.input({2, 3}), {1}, true);
  CHECK(match_signature(net.model, net.model.operations[2]).feature_level == 2);
}

TEST_CASE("match_signature: CONCATENATION takes any number of tensors, then the axis") {
  for (size_t count = 1; count <= 5; ++count) {
    Net net;
    std::vector<OperandId> parts;
    for (size_t i = 0; i < count; ++i) parts.push_back(net.input({2, 3}));
    net.concatenation(parts, 1);
    const SignatureMatch match = match_signature(net.model, net.model.operations[0]);
    REQUIRE(match.signature != nullptr);
    for (size_t i = 0; i < count; ++i) {
      CHECK(std::string(argument_of_input(*match.signature, i, count + 1).name) == "inputs");
    }
    CHECK(argument_of_input(*match.signature, count, count + 1).role == ArgumentRole::kAxis);
  }
}

TEST_CASE("match_signature: CONCATENATION of types that differ is refused") {
  Net net;
  const OperandId a = net.input({2, 3});
  const OperandId b = net.builder.variable(testing::quant_type({2, 3}, 0.5f));
  net.concatenation({a, b}, 1);
  CHECK(problem(net) == "argument inputs: TENSOR_QUANT8_ASYMM found, TENSOR_FLOAT32 needed");
}

TEST_CASE("match_signature: a wrong type names argument, type found and type needed") {
  Net net;
  const OperandId x = net.input({2, 3});
  net.builder.add(OperationCode::SOFTMAX, {x, net.builder.int32(1)}, float_type({2, 3}));
  CHECK(problem(net) == "argument beta: INT32 found, FLOAT32 needed");
  CHECK(match_signature(net.model, net.model.operations[0]).signature == nullptr);
}

TEST_CASE("match_signature: a wrong rank names argument, rank found and ranks needed") {
  Net net;
  net.builder.add(OperationCode::RELU, {net.input({1, 2, 3, 4, 5})}, float_type({1, 2, 3, 4, 5}));
  CHECK(problem(net) == "argument input: rank 5 found, 1 to 4 needed");
  const OperandId x = net.input({1, 2, 8, 8});
  net.conv(x, 4);
  net.model.at(x).dims = {2, 8, 8};
  CHECK(problem(net) == "argument input: rank 3 found, 4 to 4 needed");
}

TEST_CASE("match_signature: a wrong output type or rank is refused") {
  Net net;
  const OperandId y = net.unary(OperationCode::RELU, net.input({2, 3}));
  net.model.at(y).type = OperandCode::TENSOR_INT32;
  CHECK(match_signature(net.model, net.model.operations[0]).signature == nullptr);
  CHECK(problem(net) == "argument output: TENSOR_INT32 found, TENSOR_FLOAT32 needed");
}

TEST_CASE("match_signature: too few and too many arguments") {
  Net net;
  const OperandId x = net.input({2, 3});
  net.builder.add(OperationCode::ADD, {x, x}, float_type({2, 3}));
  CHECK(problem(net) == "the operation takes no such number of arguments");
  net.builder.add(OperationCode::RELU, {x, x}, float_type({2, 3}));
  CHECK(problem(net) == "the operation takes no such number of arguments");
}

TEST_CASE("match_signature: an operation that the table doesn't describe") {
  Net net;
  net.unary(static_cast<OperationCode>(9999), net.input({2, 3}));
  CHECK(problem(net) == "the operations table doesn't describe it");
}

TEST_CASE("match_signature: outputs count") {
  Net net;
  const OperandId x = net.input({3, 2, 4});
  const OperandId weights = net.weights({4, 4}), bias = net.weights({4}), state = net.weights({2, 4});
  const std::vector<OperandId> inputs{x, weights, weights, bias, state, net.builder.int32(0), net.builder.int32(1)};
  net.builder.add(OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN, inputs, float_type({3, 2, 4}));
  CHECK(match_signature(net.model, net.model.operations[0]).feature_level == 3);
  net.builder.add(OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN, inputs, {float_type({3, 2, 4}), float_type({2, 4})});
  CHECK(match_signature(net.model, net.model.operations[1]).feature_level == 4);
  net.builder.add(OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN, inputs,
                  {float_type({3, 2, 4}), float_type({2, 4}), float_type({2, 4})});
  CHECK(match_signature(net.model, net.model.operations[2]).signature == nullptr);
}

TEST_CASE("match_signature: what is left out has to be optional") {
  Net net;
  const OperandId x = net.input({2, 3});
  const OperandId nothing = net.model.add({OperandCode::TENSOR_FLOAT32, {1, 1}, 0, 0, Omitted{}});
  net.builder.add(OperationCode::FULLY_CONNECTED, {x, nothing, net.weights({4}), net.builder.int32(0)},
                  float_type({2, 4}));
  CHECK(problem(net) == "argument weights: nothing found, a value needed");
}
