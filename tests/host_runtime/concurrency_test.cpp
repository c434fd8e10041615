// SPDX-License-Identifier: BSD-3-Clause
// Many executions at the same time: of one compilation, in the background, over a shared memory, with a trace.
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

constexpr int kThreads = 4, kRounds = 8;

// Calls from several threads; how many returned false.
template <typename Call>
int failures(const Call& call) {
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) failed += call(thread * kRounds + round) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed;
}

// input of [n, 4] times a constant matrix, so that a constant is prepared and cached.
ModelSpec dense() {
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {3, 4}, 1));
  spec.add(constant(OperandCode::TENSOR_QUANT8_ASYMM, {2, 4}, std::vector<uint8_t>{1, 0, 0, 0, 0, 1, 0, 0}, 1));
  spec.add(constant(OperandCode::TENSOR_INT32, {2}, std::vector<int32_t>{0, 1}, 1));
  spec.add(int32(0));
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {3, 2}, 2));
  spec.operations = {{OperationCode::FULLY_CONNECTED, {0, 1, 2, 3}, {4}}};
  spec.inputs = {0};
  spec.outputs = {4};
  return spec;
}

bool computes_dense(const Compiled& compiled, int number) {
  const auto base = static_cast<uint8_t>(2 * (number % 50));
  std::vector<uint8_t> input(12), output(6);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(base + 2 * (i / 4));
  ANeuralNetworksExecution* execution = nullptr;
  bool good = ANeuralNetworksExecution_create(compiled.compilation.get(), &execution) == 0 &&
              ANeuralNetworksExecution_setInput(execution, 0, nullptr, input.data(), 12) == 0 &&
              ANeuralNetworksExecution_setOutput(execution, 0, nullptr, output.data(), 6) == 0;
  ANeuralNetworksEvent* event = nullptr;
  good = good && (number % 2 == 0 ? ANeuralNetworksExecution_compute(execution) == 0
                                  : ANeuralNetworksExecution_startCompute(execution, &event) == 0 &&
                                        ANeuralNetworksEvent_wait(event) == 0);
  for (std::size_t i = 0; i < 3; ++i)
    good = good && output[2 * i] == base / 2 + i && output[2 * i + 1] == base / 2 + i + 1;
  ANeuralNetworksEvent_free(event);
  ANeuralNetworksExecution_free(execution);
  return good;
}

}  // namespace

TEST_CASE("executions of one compilation at the same time", "[threads]") {
  const Compiled compiled(dense());
  CHECK(failures([&](int number) { return computes_dense(compiled, number); }) == 0);
}

TEST_CASE("models and compilations at the same time", "[threads]") {
  CHECK(failures([](int number) { return computes_dense(Compiled(dense()), number); }) == 0);
}

TEST_CASE("a memory of the runtime's own, read at the same time", "[threads]") {
  const Compiled compiled(plus_one({16}));
  ANeuralNetworksMemoryDesc* descriptor = nullptr;
  ANeuralNetworksMemory* memory = nullptr;
  REQUIRE(ANeuralNetworksMemoryDesc_create(&descriptor) == 0);
  REQUIRE(ANeuralNetworksMemoryDesc_addInputRole(descriptor, compiled.compilation.get(), 0, 1) == 0);
  REQUIRE(ANeuralNetworksMemoryDesc_addOutputRole(descriptor, compiled.compilation.get(), 0, 1) == 0);
  REQUIRE(ANeuralNetworksMemoryDesc_finish(descriptor) == 0);
  REQUIRE(ANeuralNetworksMemory_createFromDesc(descriptor, &memory) == 0);
  {
    const Execution first = new_execution(compiled);
    const std::vector<float> input(16, 1);
    REQUIRE(ANeuralNetworksExecution_setInput(first.get(), 0, nullptr, input.data(), 64) == 0);
    REQUIRE(ANeuralNetworksExecution_setOutputFromMemory(first.get(), 0, nullptr, memory, 0, 0) == 0);
    REQUIRE(ANeuralNetworksExecution_compute(first.get()) == 0);
  }
  CHECK(failures([&](int) {
          ANeuralNetworksExecution* execution = nullptr;
          std::vector<float> output(16);
          const bool good = ANeuralNetworksExecution_create(compiled.compilation.get(), &execution) == 0 &&
                            ANeuralNetworksExecution_setInputFromMemory(execution, 0, nullptr, memory, 0, 0) == 0 &&
                            ANeuralNetworksExecution_setOutput(execution, 0, nullptr, output.data(), 64) == 0 &&
                            ANeuralNetworksExecution_compute(execution) == 0;
          ANeuralNetworksExecution_free(execution);
          return good && output == std::vector<float>(16, 3);
        }) == 0);
  ANeuralNetworksMemory_free(memory);
  ANeuralNetworksMemoryDesc_free(descriptor);
}

TEST_CASE("a trace of executions at the same time has whole lines", "[threads]") {
  const TemporaryFolder folder;
  const Variable trace("NNAPI_HOST_TRACE", folder.file("trace"));
  const Compiled compiled(dense());
  CHECK(failures([&](int number) { return computes_dense(compiled, number); }) == 0);
  std::ifstream stream(folder.file("trace"));
  std::vector<bool> seen(kThreads * kRounds + 1);
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines)
    seen[nlohmann::json::parse(line)["execution"].get<std::size_t>()] = true;
  CHECK(lines == kThreads * kRounds);
  CHECK(std::count(seen.begin(), seen.end(), true) == kThreads * kRounds);
}

TEST_CASE("one reusable execution in several threads computes or is refused", "[threads]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  const std::vector<float> input = {1, 2};
  std::vector<float> output(2);
  REQUIRE(ANeuralNetworksExecution_setReusable(execution.get(), true) == 0);
  set_floats(execution, input, output);
  StderrCapture capture;
  CHECK(failures([&](int) {
          const int code = ANeuralNetworksExecution_compute(execution.get());
          return code == 0 || code == kBadState;
        }) == 0);
  CHECK(ANeuralNetworksExecution_compute(execution.get()) == 0);
  CHECK(output == std::vector<float>{2, 3});
}
