// SPDX-License-Identifier: BSD-3-Clause
// Models with subgraphs: what validate asks of them, how passes and dumps treat them.
#include <catch2/catch.hpp>
#include <set>

#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/passes/separate_outputs.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::float_type;

namespace {

using Problems = std::vector<std::string>;

Operand bool_type() {
  return {OperandCode::TENSOR_BOOL8, {1}, 0, 0, {}};
}

// A subgraph of one input.
struct Branch {
  Subgraph model = std::make_shared<Model>();
  Builder builder{*model};
  OperandId x;

  explicit Branch(const Dims& dims) : x(builder.variable(float_type(dims))) {
    model->is_subgraph = true;
    model->inputs.push_back({x});
  }
  OperandId unary(OperationCode code, OperandId id) { return builder.add(code, {id}, model->at(id)); }
  const Subgraph& with_output(OperandId id) {
    model->outputs.push_back({id});
    return model;
  }
};

Subgraph branch_of(OperationCode code, const Dims& dims) {
  Branch branch(dims);
  return branch.with_output(branch.unary(code, branch.x));
}

// An image, a condition and an IF on them.
struct BranchNet {
  Model model;
  Builder builder{model};

  BranchNet(const Dims& dims, const Subgraph& yes, const Subgraph& no) {
    const OperandId x = builder.variable(float_type(dims));
    const OperandId condition = builder.variable(bool_type());
    model.inputs = {{x, false, 0}, {condition, false, 1}};
    builder.set_source("net.py:7");
    const OperandId result =
        builder.add(OperationCode::IF, {condition, reference(yes), reference(no), x}, float_type(dims));
    model.outputs = {{result}};
  }

  OperandId reference(const Subgraph& subgraph) { return model.add({OperandCode::MODEL, {}, 0, 0, subgraph}); }
};

}  // namespace

TEST_CASE("subgraphs: a branch is valid from feature level 4 on") {
  const BranchNet net({2}, branch_of(OperationCode::RELU, {2}), branch_of(OperationCode::TANH, {2}));
  CHECK(validate(net.model, 4).empty());
  CHECK(required_feature_level(net.model) == 4);
  CHECK(validate(net.model, 3) ==
        Problems{"operation 0 (IF) from net.py:7: feature level 3 found, 4 needed for these arguments"});
}

TEST_CASE("subgraphs: what is wrong inside is told with the subgraph's number") {
  const BranchNet net({2}, branch_of(OperationCode::RELU, {2}), branch_of(OperationCode::HARD_SWISH, {2, 1}));
  const Problems problems = validate(net.model, 4);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] ==
        "operation 0 (IF) from net.py:7: input 0 of a subgraph is TENSOR_FLOAT32[2, 1], TENSOR_FLOAT32[2] needed");
  Branch nothing({2});
  const BranchNet empty({2}, branch_of(OperationCode::RELU, {2}), nothing.with_output(nothing.x));
  CHECK(validate(empty.model, 4) == Problems{"subgraph 2: no operation"});
}

TEST_CASE("subgraphs: the numbers of inputs and outputs are those of the operation") {
  Branch two({2});
  two.with_output(two.unary(OperationCode::RELU, two.x));
  two.with_output(two.unary(OperationCode::TANH, two.x));
  const BranchNet outputs({2}, two.model, branch_of(OperationCode::RELU, {2}));
  CHECK(validate(outputs.model, 4) ==
        Problems{"operation 0 (IF) from net.py:7: a subgraph with 2 outputs found, 1 needed"});
  Branch more({2});
  more.model->inputs.push_back({more.builder.variable(float_type({2}))});
  more.with_output(more.unary(OperationCode::RELU, more.x));
  const BranchNet inputs({2}, branch_of(OperationCode::RELU, {2}), more.model);
  CHECK(validate(inputs.model, 4) ==
        Problems{"operation 0 (IF) from net.py:7: a subgraph with 2 inputs found, 1 needed"});
}

TEST_CASE("subgraphs: a loop's body may give more than the loop does") {
  Branch condition({1}), body({1});
  const Operand counter = float_type({1});
  condition.model->inputs.push_back({condition.builder.variable(counter)});
  const OperandId zero = condition.builder.tensor(Constant::of_floats({0}));
  condition.with_output(condition.builder.add(OperationCode::LESS, {condition.x, zero}, bool_type()));
  body.model->inputs.push_back({body.builder.variable(counter)});
  body.with_output(body.unary(OperationCode::TANH, body.x));
  body.with_output(body.unary(OperationCode::RELU, body.model->inputs[1].operand));
  Model model;
  Builder builder(model);
  const OperandId x = builder.variable(counter), y = builder.variable(counter);
  model.inputs = {{x, false, 0}, {y, false, 1}};
  const OperandId first = model.add({OperandCode::MODEL, {}, 0, 0, condition.model});
  const OperandId second = model.add({OperandCode::MODEL, {}, 0, 0, body.model});
  model.outputs = {{builder.add(OperationCode::WHILE, {first, second, x, y}, counter)}};
  CHECK(validate(model, 4).empty());
  CHECK(with_subgraphs(model) == std::vector<Model*>{&model, condition.model.get(), body.model.get()});
}

TEST_CASE("subgraphs: the dump numbers them, each before its own") {
  Branch outer({2});
  const OperandId condition = outer.builder.variable(bool_type());
  outer.model->inputs.push_back({condition});
  const auto refer = [&](const Subgraph& subgraph) {
    return outer.model->add({OperandCode::MODEL, {}, 0, 0, subgraph});
  };
  const OperandId yes = refer(branch_of(OperationCode::RELU, {2})), no = refer(branch_of(OperationCode::TANH, {2}));
  outer.with_output(outer.builder.add(OperationCode::IF, {condition, yes, no, outer.x}, float_type({2})));
  const std::string text = to_text(*outer.model);
  CHECK(text.find("IF(condition=%1, then_model=subgraph 1, else_model=subgraph 2, inputs=%0)") != std::string::npos);
  CHECK(text.find("subgraph 1\ninputs\n  %0: TENSOR_FLOAT32[2]\noperations\n  %1: TENSOR_FLOAT32[2] = RELU") !=
        std::string::npos);
  CHECK(text.find("subgraph 2\ninputs") != std::string::npos);
}

TEST_CASE("subgraphs: an output that is an input, a constant or a repeat is copied") {
  Branch branch({2});
  const OperandId y = branch.unary(OperationCode::RELU, branch.x);
  const OperandId weights = branch.builder.tensor(Constant::of_floats({1, 2}));
  for (const OperandId id : {branch.x, y, y, weights}) branch.with_output(id);
  separate_outputs(*branch.model);
  const auto& outputs = branch.model->outputs;
  std::set<OperandId> all;
  for (size_t i = 0; i < outputs.size(); ++i) {
    CHECK(all.insert(outputs[i].operand).second);
    const auto& operations = branch.model->operations;
    const auto copy = std::find_if(operations.begin(), operations.end(), [&](const Operation& operation) {
      return operation.outputs[0] == outputs[i].operand;
    });
    REQUIRE(copy != operations.end());
    CHECK(copy->code == OperationCode::CAST);
  }
  CHECK(validate(*branch.model, 4).empty());
  separate_outputs(*branch.model);
  CHECK(branch.model->operations.size() == 5);  // RELU and one copy each: nothing is left to do
  testing::Net main;
  main.output(main.input({2}));
  separate_outputs(main.model);
  CHECK(main.model.operations.empty());
}

TEST_CASE("subgraphs: a result of IF that goes out and is read again is copied") {
  const Dims dims{2};
  BranchNet net(dims, branch_of(OperationCode::RELU, dims), branch_of(OperationCode::TANH, dims));
  CHECK(validate(net.model, 4).empty());
  separate_outputs(net.model);
  CHECK(net.model.operations.size() == 1);  // nothing reads it
  const OperandId result = net.model.outputs[0].operand;
  net.model.outputs.push_back({net.builder.add(OperationCode::RELU, {result}, float_type(dims))});
  CHECK(validate(net.model, 4) == Problems{"output 0 is the result of IF, and an operation reads it; a copy needed for "
                                           "one of them, as Android's runtime aborts"});
  separate_outputs(net.model);
  CHECK(validate(net.model, 4).empty());
  CHECK(net.model.operations.back().code == OperationCode::CAST);
  CHECK(net.model.operations.back().inputs[0] == result);
  CHECK(net.model.outputs[0].operand == net.model.operations.back().outputs[0]);
}

TEST_CASE("subgraphs: any result that goes out of a subgraph and is read in it is copied") {
  Branch branch({2});
  const OperandId y = branch.unary(OperationCode::RELU, branch.x);
  branch.with_output(y);
  branch.with_output(branch.unary(OperationCode::TANH, y));
  CHECK(validate(*branch.model, 4) ==
        Problems{"output 0 is the result of RELU, and an operation reads it; a copy needed "
                 "for one of them, as Android's runtime aborts"});
  separate_outputs(*branch.model);
  CHECK(validate(*branch.model, 4).empty());
  branch.model->is_subgraph = false;  // plain operations of a main model are free to
  branch.model->outputs[0].operand = y;
  CHECK(validate(*branch.model, 4).empty());
}

namespace {

OperandId max_pool(Builder& builder, OperandId x) {
  std::vector<OperandId> arguments{x};
  for (const int value : {0, 0, 0, 0, 1, 1, 1, 1, 0}) arguments.push_back(builder.int32(value));
  arguments.push_back(builder.boolean(true));  // NCHW
  return builder.add(OperationCode::MAX_POOL_2D, arguments, builder.model().at(x));
}

const Dims kImage = {1, 3, 4, 4};
const Dims kNhwcImage = {1, 4, 4, 3};

const Dims& output_dims(const Model& model) {
  return model.at(model.outputs[0].operand).dims;
}

}  // namespace

TEST_CASE("subgraphs: images go in and come out in NHWC, and inputs that nobody reads stay") {
  Branch pool(kImage);
  pool.with_output(max_pool(pool.builder, pool.x));
  BranchNet net(kImage, pool.model, branch_of(OperationCode::RELU, kImage));
  for (const Subgraph& subgraph : {pool.model, *net.model.at(net.model.operations[0].inputs[2]).subgraph()}) {
    subgraph->inputs.push_back({Builder(*subgraph).variable(float_type({2}))});
  }
  const OperandId unread = net.builder.variable(float_type({2}));
  net.model.inputs.push_back({unread, false, 2});
  net.model.operations[0].inputs.push_back(unread);
  net.model.inputs[0].nhwc = true;
  optimise(net.model, {true, 4, false, {}, {}});
  CHECK(testing::codes(net.model) == std::vector<OperationCode>{OperationCode::IF});
  CHECK(testing::codes(*pool.model) == std::vector<OperationCode>{OperationCode::MAX_POOL_2D});
  CHECK(pool.model->inputs.size() == 2);
  CHECK_FALSE(pool.model->inputs[0].nhwc);
  CHECK(output_dims(*pool.model) == kNhwcImage);
  CHECK(net.model.outputs[0].nhwc);
  CHECK(output_dims(net.model) == kNhwcImage);
  CHECK(validate(net.model, 4).empty());
}

TEST_CASE("subgraphs: a side that computes in PyTorch's order transposes for the other") {
  Branch pool(kImage), turned(kImage);
  pool.with_output(max_pool(pool.builder, pool.x));
  const OperandId flat =
      turned.builder.add(OperationCode::RESHAPE, {turned.x, turned.builder.int32_tensor({1, 48})}, float_type({1, 48}));
  const OperandId shares = turned.builder.add(
      OperationCode::SOFTMAX, {flat, turned.builder.float32(1), turned.builder.int32(1)}, float_type({1, 48}));
  turned.with_output(
      turned.builder.add(OperationCode::RESHAPE, {shares, turned.builder.int32_tensor(kImage)}, float_type(kImage)));
  BranchNet net(kImage, pool.model, turned.model);
  net.model.inputs[0].nhwc = true;
  optimise(net.model, {true, 4, false, {}, {}});
  CHECK(output_dims(*pool.model) == kNhwcImage);
  CHECK(output_dims(*turned.model) == kNhwcImage);
  CHECK(testing::count(*turned.model, OperationCode::TRANSPOSE) == 2);
  CHECK(validate(net.model, 4).empty());
}

TEST_CASE("subgraphs: a loop keeps the order of what it begins with") {
  for (const bool nhwc : {true, false}) {
    Branch condition(kImage), body(kImage);
    const OperandId zero = condition.builder.tensor(Constant::of_floats({0}));
    const OperandId axes = condition.builder.int32_tensor({0, 1, 2, 3});
    const OperandId sum = condition.builder.add(OperationCode::REDUCE_SUM,
                                                {condition.x, axes, condition.builder.boolean(false)}, float_type({1}));
    condition.with_output(condition.builder.add(OperationCode::LESS, {sum, zero}, bool_type()));
    body.with_output(max_pool(body.builder, body.x));
    Model model;
    Builder builder(model);
    const OperandId x = builder.variable(float_type(kImage));
    model.inputs = {{x, nhwc, 0}};
    const OperandId first = model.add({OperandCode::MODEL, {}, 0, 0, condition.model});
    const OperandId second = model.add({OperandCode::MODEL, {}, 0, 0, body.model});
    model.outputs = {{builder.add(OperationCode::WHILE, {first, second, x}, float_type(kImage))}};
    optimise(model, {true, 4, false, {}, {}});
    CHECK(model.outputs[0].nhwc == nhwc);
    CHECK(output_dims(*body.model) == (nhwc ? kNhwcImage : kImage));
    CHECK(testing::count(*body.model, OperationCode::TRANSPOSE) == (nhwc ? 0U : 2U));
    CHECK(validate(model, 4).empty());
  }
}
