// SPDX-License-Identifier: BSD-3-Clause
// IF and WHILE: what they compute, how long they may take, and what a model of theirs may not be.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;
using nnapi_convert::ResultCode;

namespace {

constexpr int kBadState = static_cast<int>(ResultCode::BAD_STATE);
constexpr int kNull = static_cast<int>(ResultCode::UNEXPECTED_NULL);
constexpr int kLate = static_cast<int>(ResultCode::MISSED_DEADLINE_TRANSIENT);

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;
const OperandCode kBool = OperandCode::TENSOR_BOOL8;

// output = input <code> constant, on a tensor of the given extents (none: of any rank).
ModelSpec with_constant(OperationCode code, float value, const std::vector<uint32_t>& dims) {
  ModelSpec spec;
  spec.add(tensor(kFloat, dims));
  spec.add(constant(kFloat, {1}, std::vector<float>{value}));
  spec.add(int32(0));
  spec.add(tensor(kFloat, dims));
  spec.operations = {{code, {0, 1, 2}, {3}}};
  spec.inputs = {0};
  spec.outputs = {3};
  return spec;
}

// condition ? input + 10 : input * 3
ModelSpec choice(const Model& then_model, const Model& else_model, const std::vector<uint32_t>& output_dims) {
  ModelSpec spec;
  spec.add(tensor(kBool, {1}));
  spec.add(reference(then_model.get()));
  spec.add(reference(else_model.get()));
  spec.add(tensor(kFloat, {2}));
  spec.add(tensor(kFloat, output_dims));
  spec.operations = {{OperationCode::IF, {0, 1, 2, 3}, {4}}};
  spec.inputs = {0, 3};
  spec.outputs = {4};
  return spec;
}

// counter < limit, of the inputs (value, counter, limit)
ModelSpec counter_below_limit(const std::vector<uint32_t>& value_dims) {
  ModelSpec spec;
  spec.add(tensor(kFloat, value_dims));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.add(tensor(kBool, {1}));
  spec.operations = {{OperationCode::LESS, {1, 2}, {3}}};
  spec.inputs = {0, 1, 2};
  spec.outputs = {3};
  return spec;
}

// (concatenation(value, value), counter + step) of (value, counter, limit): the value's extent doubles.
ModelSpec doubling(int32_t step) {
  ModelSpec spec;
  spec.add(tensor(kFloat, {0}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.add(int32(0));
  spec.add(tensor(kFloat, {0}));
  spec.add(constant(OperandCode::TENSOR_INT32, {1}, std::vector<int32_t>{step}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.operations = {{OperationCode::CONCATENATION, {0, 0, 3}, {4}}, {OperationCode::ADD, {1, 5, 3}, {6}}};
  spec.inputs = {0, 1, 2};
  spec.outputs = {4, 6};
  return spec;
}

// value, with its counter as state that only the loop sees.
ModelSpec loop(const Model& condition, const Model& body) {
  ModelSpec spec;
  spec.add(reference(condition.get()));
  spec.add(reference(body.get()));
  spec.add(tensor(kFloat, {1}));
  spec.add(constant(OperandCode::TENSOR_INT32, {1}, std::vector<int32_t>{0}));
  spec.add(tensor(OperandCode::TENSOR_INT32, {1}));
  spec.add(tensor(kFloat, {0}));
  spec.operations = {{OperationCode::WHILE, {0, 1, 2, 3, 4}, {5}}};
  spec.inputs = {2, 4};
  spec.outputs = {5};
  return spec;
}

struct LoopRun {
  int code = 0;
  std::vector<float> values;
  std::string sentences;
};

LoopRun run_loop(const Compiled& compiled, int32_t limit, uint64_t timeout = 0) {
  LoopRun result;
  const Execution execution = new_execution(compiled);
  const float start = 7;
  std::vector<float> buffer(64);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, &start, 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 1, nullptr, &limit, 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, buffer.data(), 256) == 0);
  REQUIRE(ANeuralNetworksExecution_setLoopTimeout(execution.get(), timeout) == 0);
  StderrCapture capture;
  result.code = ANeuralNetworksExecution_compute(execution.get());
  result.sentences = capture.text();
  if (result.code != 0) return result;
  uint32_t extent = 0;
  REQUIRE(ANeuralNetworksExecution_getOutputOperandDimensions(execution.get(), 0, &extent) == 0);
  result.values.assign(buffer.begin(), buffer.begin() + extent);
  return result;
}

}  // namespace

TEST_CASE("IF runs one of two models", "[control_flow]") {
  for (const std::vector<uint32_t>& dims : {std::vector<uint32_t>{2}, {0}, {}}) {
    const Model plus = built(with_constant(OperationCode::ADD, 10, dims));
    const Model times = built(with_constant(OperationCode::MUL, 3, dims));
    const Compiled compiled(choice(plus, times, dims));
    const std::vector<uint8_t> numbers = bytes_of(std::vector<float>{1, 2});
    CHECK(compute(compiled, {{1}, numbers}, 8) == bytes_of(std::vector<float>{11, 12}));
    CHECK(compute(compiled, {{0}, numbers}, 8) == bytes_of(std::vector<float>{3, 6}));
  }
}

TEST_CASE("a referenced model lives as long as it is needed", "[control_flow]") {
  Model plus = built(with_constant(OperationCode::ADD, 10, {2}));
  const Compiled compiled(choice(plus, plus, {2}));
  plus.reset();
  CHECK(compute(compiled, {{1}, bytes_of(std::vector<float>{1, 2})}, 8) == bytes_of(std::vector<float>{11, 12}));
}

TEST_CASE("WHILE repeats its body, whose extents may change", "[control_flow]") {
  const Model condition = built(counter_below_limit({0})), body = built(doubling(1));
  const Compiled compiled(loop(condition, body));
  CHECK(run_loop(compiled, 0).values == std::vector<float>(1, 7));
  CHECK(run_loop(compiled, 1).values == std::vector<float>(2, 7));
  CHECK(run_loop(compiled, 5).values == std::vector<float>(32, 7));
  const LoopRun big = run_loop(compiled, 7);
  CHECK(big.code == static_cast<int>(ResultCode::OUTPUT_INSUFFICIENT_SIZE));
  CHECK(big.sentences.find("output 0: 256 bytes found, 512 needed") != std::string::npos);
}

TEST_CASE("a loop without an end has a time", "[control_flow]") {
  ModelSpec same = doubling(0);
  same.operations[0] = {OperationCode::RELU, {0}, {4}};
  const Model condition = built(counter_below_limit({0})), body = built(same);
  const Compiled compiled(loop(condition, body));
  const auto start = std::chrono::steady_clock::now();
  const LoopRun run = run_loop(compiled, 1, 50'000'000);
  CHECK(run.code == kLate);
  CHECK(run.sentences.find("operation 0 (WHILE): ") != std::string::npos);
  CHECK(run.sentences.find("in the loop's time of 50000000 ns") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  CHECK(ANeuralNetworks_getDefaultLoopTimeout() == 2'000'000'000);
  CHECK(ANeuralNetworks_getMaximumLoopTimeout() == 15'000'000'000);
}

TEST_CASE("a loop's time is set before the execution starts", "[control_flow]") {
  const Model condition = built(counter_below_limit({0})), body = built(doubling(1));
  const Compiled compiled(loop(condition, body));
  const Execution execution = new_execution(compiled);
  const float start = 7;
  const int32_t limit = 0;
  float result = 0;
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, &start, 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 1, nullptr, &limit, 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, &result, 4) == 0);
  CHECK(ANeuralNetworksExecution_setLoopTimeout(execution.get(), UINT64_MAX) == 0);
  CHECK(ANeuralNetworksExecution_compute(execution.get()) == 0);
  CHECK(result == 7);
  StderrCapture capture;
  CHECK(ANeuralNetworksExecution_setLoopTimeout(execution.get(), 1) == kBadState);
  CHECK(ANeuralNetworksExecution_setLoopTimeout(nullptr, 1) == kNull);
}

TEST_CASE("models that do not fit IF", "[control_flow]") {
  const Model plus = built(with_constant(OperationCode::ADD, 10, {2}));
  const Model wide = built(with_constant(OperationCode::ADD, 10, {3}));
  const Model two = built(doubling(1));
  refuses(
      choice(plus, wide, {2}),
      "operation 0 (IF), argument else_model: input 0 of the model is TENSOR_FLOAT32 [3], TENSOR_FLOAT32 [2] needed");
  refuses(choice(two, plus, {2}), "argument then_model: a model of 3 inputs found, 1 needed");
  refuses(choice(plus, plus, {3}), "output 0 of the model is TENSOR_FLOAT32 [2], TENSOR_FLOAT32 [3] needed");
  ModelSpec spec = choice(plus, plus, {2});
  spec.operands[0].dims = {2};
  refuses(spec, "argument condition: dimensions [2] found, [1] needed");
  spec = choice(plus, plus, {2});
  spec.operands[0].type = OperandCode::TENSOR_INT32;
  refuses(spec, "argument condition: TENSOR_INT32 found, TENSOR_BOOL8 needed");
  spec = choice(plus, plus, {2});
  spec.operands[0].omitted = true;
  spec.inputs = {3};
  refuses(spec, "argument condition: an omitted value found, a value needed");
}

TEST_CASE("models that do not fit WHILE", "[control_flow]") {
  const Model condition = built(counter_below_limit({0})), body = built(doubling(1));
  refuses(loop(body, body), "argument condition_model: a model of 2 outputs found, 1 needed");
  refuses(loop(condition, condition), "argument body_model: output 0 of the model is TENSOR_BOOL8 [1]");
  ModelSpec number = counter_below_limit({0});
  number.operations = {{OperationCode::MUL, {0, 0, 4}, {3}}};
  number.add(int32(0));
  number.operands[3] = tensor(kFloat, {0});
  const Model no_condition = built(number);
  refuses(loop(no_condition, body),
          "argument condition_model: its output is TENSOR_FLOAT32 [?], TENSOR_BOOL8 [1] needed");
  const Model narrow = built(counter_below_limit({4}));
  refuses(loop(narrow, body), "argument condition_model: input 0 of the model is TENSOR_FLOAT32 [4]");
}

TEST_CASE("operands of type MODEL", "[control_flow]") {
  const Model plus = built(with_constant(OperationCode::ADD, 10, {2}));
  ModelSpec spec = choice(plus, plus, {2});
  spec.operands[1].model = nullptr;
  refuses(spec, "operand 1: MODEL refers to no model");
  spec.operands[1].bytes = {1};
  refuses(spec, "operand 1: a value found, MODEL refers to a model");
  spec = choice(plus, plus, {2});
  spec.inputs = {0, 1, 3};
  refuses(spec, "operand 1: a MODEL cannot be a model input");
  const Model unfinished = new_model();
  spec = choice(plus, unfinished, {2});
  refuses(spec, "operand 2: the model it refers to is not finished");
  spec = choice(plus, plus, {2});
  spec.operands[3].model = plus.get();
  refuses(spec, "operand 3: TENSOR_FLOAT32 found, a referenced model needs MODEL");
  spec = choice(plus, plus, {2});
  spec.operations[0].inputs = {0, 3, 2, 3};
  refuses(spec, "argument then_model: TENSOR_FLOAT32 found, MODEL needed");
  StderrCapture capture;
  CHECK(ANeuralNetworksModel_setOperandValueFromModel(nullptr, 0, plus.get()) == kNull);
  CHECK(ANeuralNetworksModel_setOperandValueFromModel(unfinished.get(), 0, nullptr) == kNull);
  CHECK(ANeuralNetworksModel_setOperandValueFromModel(unfinished.get(), 0, plus.get()) == kBadData);
}

TEST_CASE("Android's runtime aborts where another step reads an output", "[control_flow]") {
  const std::string needed = "an output that another step of the plan reads aborts Android's runtime";
  const Model plus = built(with_constant(OperationCode::ADD, 10, {2}));
  ModelSpec main = choice(plus, plus, {2});
  const uint32_t next = main.add(tensor(kFloat, {2}));
  main.operations.push_back({OperationCode::RELU, {4}, {next}});
  main.outputs = {next};
  accepts(main);  // the result of IF is a temporary
  main.outputs = {4, next};
  refuses(main, "finish: output 0 is written by operation 0 (IF) and read by operation 1 (RELU): " + needed);
  main = choice(plus, plus, {2});
  const uint32_t before = main.add(tensor(kFloat, {2}));
  main.operations.push_back({OperationCode::RELU, {3}, {before}});
  main.operations.push_back({OperationCode::ADD, {4, before, main.add(int32(0))}, {main.add(tensor(kFloat, {2}))}});
  main.outputs = {before, main.operations.back().outputs[0]};
  accepts(main);  // the main model's plain operations may
  const Model inner = built(main);
  ModelSpec outer;
  outer.add(tensor(kBool, {1}));
  outer.add(reference(inner.get()));
  outer.add(tensor(kFloat, {2}));
  outer.operations = {
      {OperationCode::IF, {0, 1, 1, 0, 2}, {outer.add(tensor(kFloat, {2})), outer.add(tensor(kFloat, {2}))}}};
  outer.inputs = {0, 2};
  outer.outputs = {3, 4};
  refuses(outer,
          "operand 1: the model it refers to can't be planned: output 0 is written by operation 1 (RELU) and read "
          "by operation 2 (ADD): " +
              needed);
}
