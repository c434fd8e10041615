// Models with subgraphs: what validate asks of them, how passes and dumps treat them.
#include <catch2/catch.hpp>

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
  CHECK(outputs[1].operand == y);
  for (const size_t i : {0, 2, 3}) {
    const auto& operations = branch.model->operations;
    const auto copy = std::find_if(operations.begin(), operations.end(), [&](const Operation& operation) {
      return operation.outputs[0] == outputs[i].operand;
    });
    REQUIRE(copy != operations.end());
    CHECK(copy->code == OperationCode::CAST);
  }
  testing::Net main;
  main.output(main.input({2}));
  separate_outputs(main.model);
  CHECK(main.model.operations.empty());
}

TEST_CASE("subgraphs: edges keep PyTorch's order and inputs that nobody reads") {
  Branch pools({1, 3, 4, 4});
  const OperandId unread = pools.builder.variable(float_type({2}));
  pools.model->inputs.push_back({unread});
  std::vector<OperandId> arguments{pools.x};
  for (const int value : {0, 0, 0, 0, 1, 1, 1, 1, 0}) arguments.push_back(pools.builder.int32(value));
  arguments.push_back(pools.builder.boolean(true));  // NCHW
  pools.with_output(pools.builder.add(OperationCode::MAX_POOL_2D, arguments, float_type({1, 3, 4, 4})));
  BranchNet net({1, 3, 4, 4}, pools.model, branch_of(OperationCode::RELU, {1, 3, 4, 4}));
  net.model.inputs[0].nhwc = true;
  optimise(net.model, {true, 4, {}, {}});
  const Model& inner = *pools.model;
  CHECK(inner.inputs.size() == 2);
  CHECK(testing::codes(inner) ==
        std::vector<OperationCode>{OperationCode::TRANSPOSE, OperationCode::MAX_POOL_2D, OperationCode::TRANSPOSE});
  CHECK(inner.at(inner.outputs[0].operand).dims == Dims{1, 3, 4, 4});
  CHECK_FALSE(inner.outputs[0].nhwc);
  CHECK(testing::codes(net.model) == std::vector<OperationCode>{OperationCode::TRANSPOSE, OperationCode::IF});
}
