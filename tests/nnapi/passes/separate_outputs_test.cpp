// SPDX-License-Identifier: BSD-3-Clause
// Tests which outputs become copies: outputs that NNAPI or Android's plan does not take as they are.
#include "lib/nnapi/passes/separate_outputs.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

TEST_CASE("separate_outputs: a model's own inputs and repeats stay, the module gives them") {
  Net net;
  const OperandId x = net.input({2, 3}), y = net.unary(OperationCode::RELU, x);
  for (const OperandId output : {x, y, y}) net.output(output);
  separate_outputs(net.model);
  CHECK(count(net.model, OperationCode::CAST) == 0);
}

TEST_CASE("separate_outputs: a subgraph's input, constant and repeat") {
  Net net;
  net.model.is_subgraph = true;
  const OperandId x = net.input({2, 3}), y = net.unary(OperationCode::RELU, x), weight = net.weights({2, 3});
  for (const OperandId output : {x, weight, y, y}) net.output(output);
  separate_outputs(net.model);
  CHECK(count(net.model, OperationCode::CAST) == 4);  // y, too: the copy of its repeat reads it
  std::set<OperandId> outputs;
  for (const Boundary& output : net.model.outputs) {
    outputs.insert(output.operand);
    CHECK(output.operand != x);
    CHECK(!net.model.at(output.operand).is_constant());
  }
  CHECK(outputs.size() == 4);
}

TEST_CASE("separate_outputs: a subgraph's output that its own operations read") {
  Net net;
  net.model.is_subgraph = true;
  const OperandId y = net.unary(OperationCode::RELU, net.input({2, 3})), z = net.unary(OperationCode::RELU6, y);
  net.output(y);
  net.output(z);
  separate_outputs(net.model);
  CHECK(count(net.model, OperationCode::CAST) == 1);
  CHECK(net.model.outputs[0].operand != y);
  CHECK(net.model.outputs[1].operand == z);
}

TEST_CASE("separate_outputs: the result of an IF that is read again") {
  for (const bool is_read : {false, true}) {
    Net net;
    const OperandId condition = net.builder.variable({OperandCode::TENSOR_BOOL8, {1}, 0, 0, {}});
    net.model.inputs.push_back({condition, false, 0});
    const OperandId chosen = net.builder.add(OperationCode::IF, {condition}, testing::float_type({2, 3}));
    net.output(chosen);
    if (is_read) net.output(net.unary(OperationCode::RELU, chosen));
    separate_outputs(net.model);
    CHECK(count(net.model, OperationCode::CAST) == (is_read ? 1 : 0));
  }
}
