// SPDX-License-Identifier: BSD-3-Clause
// The states of an execution: reusable ones, padding, computations in the background, events and sync fences.
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

// 2 seconds of work at most; ends by the loop's time.
ModelSpec endless(const Model& condition, const Model& body) {
  ModelSpec spec;
  spec.add(reference(condition.get()));
  spec.add(reference(body.get()));
  spec.add(tensor(OperandCode::TENSOR_FLOAT32, {1}));
  spec.add(tensor(OperandCode::TENSOR_FLOAT32, {1}));
  spec.operations = {{OperationCode::WHILE, {0, 1, 2}, {3}}};
  spec.inputs = {2};
  spec.outputs = {3};
  return spec;
}

ModelSpec always_true() {
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_FLOAT32, {1}));
  spec.add(tensor(OperandCode::TENSOR_BOOL8, {1}));
  spec.operations = {{OperationCode::EQUAL, {0, 0}, {1}}};
  spec.inputs = {0};
  spec.outputs = {1};
  return spec;
}

using Event = std::unique_ptr<ANeuralNetworksEvent, decltype(&ANeuralNetworksEvent_free)>;

Event start(const Execution& execution) {
  ANeuralNetworksEvent* event = nullptr;
  REQUIRE(ANeuralNetworksExecution_startCompute(execution.get(), &event) == 0);
  return Event(event, ANeuralNetworksEvent_free);
}

}  // namespace

TEST_CASE("a reusable execution computes again", "[execution]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  std::vector<float> input = {1, 2}, output(2);
  REQUIRE(ANeuralNetworksExecution_setReusable(execution.get(), true) == 0);
  set_floats(execution, input, output);
  for (const float value : {1.0f, 5.0f, -3.0f}) {
    input[0] = value;
    REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
    CHECK(output == std::vector<float>{value + 1, 3});
  }
  refuses(kBadState, "setReusable: the execution has started already",
          [&] { return ANeuralNetworksExecution_setReusable(execution.get(), false); });
  refuses(kBadState, "input 0: the execution has started already",
          [&] { return ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), 8); });
}

TEST_CASE("an execution that is not reusable computes once", "[execution]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  std::vector<float> input = {1, 2}, output(2);
  set_floats(execution, input, output);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  refuses(kBadState, "the execution has computed already, and is not reusable",
          [&] { return ANeuralNetworksExecution_compute(execution.get()); });
}

TEST_CASE("an input or output is set once", "[execution]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  std::vector<float> input = {1, 2}, output(2);
  set_floats(execution, input, output);
  refuses(kBadState, "input 0: set before",
          [&] { return ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), 8); });
  refuses(kBadState, "output 0: set before",
          [&] { return ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), 8); });
}

TEST_CASE("a computation in the background", "[execution][threads]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  std::vector<float> input = {1, 2}, output(2);
  set_floats(execution, input, output);
  const Event event = start(execution);
  CHECK(ANeuralNetworksEvent_wait(event.get()) == 0);
  CHECK(ANeuralNetworksEvent_wait(event.get()) == 0);
  CHECK(output == std::vector<float>{2, 3});
}

TEST_CASE("a computation that is going on", "[execution][threads]") {
  const Model condition = built(always_true()), body = built(plus_one({1}));
  const Compiled compiled(endless(condition, body));
  const Execution execution = new_execution(compiled);
  std::vector<float> input = {1}, output(1);
  set_floats(execution, input, output);
  REQUIRE(ANeuralNetworksExecution_setLoopTimeout(execution.get(), 200'000'000) == 0);
  const Event event = start(execution);
  refuses(kBadState, "the execution is computing already",
          [&] { return ANeuralNetworksExecution_compute(execution.get()); });
  uint32_t rank = 0;
  refuses(kBadState, "output dimensions: the execution has not computed yet",
          [&] { return ANeuralNetworksExecution_getOutputOperandRank(execution.get(), 0, &rank); });
  StderrCapture capture;
  CHECK(ANeuralNetworksEvent_wait(event.get()) == kLate);
  CHECK(ANeuralNetworksExecution_getOutputOperandRank(execution.get(), 0, &rank) == kBadState);
  CHECK(capture.text().find("output dimensions: the execution has failed") != std::string::npos);
}

TEST_CASE("an execution that is freed while it computes", "[execution][threads]") {
  const Model condition = built(always_true()), body = built(plus_one({1}));
  const Compiled compiled(endless(condition, body));
  Execution execution = new_execution(compiled);
  std::vector<float> input = {1}, output(1);
  set_floats(execution, input, output);
  REQUIRE(ANeuralNetworksExecution_setLoopTimeout(execution.get(), 50'000'000) == 0);
  const Event event = start(execution);
  StderrCapture capture;
  execution.reset();
  CHECK(ANeuralNetworksEvent_wait(event.get()) == kLate);
  CHECK(capture.text().find("Execution_free: it was computing") != std::string::npos);
}

TEST_CASE("a computation after others", "[execution][threads]") {
  const Compiled compiled(plus_one({2}));
  std::vector<float> first = {1, 2}, second(2), third(2);
  const Execution one = new_execution(compiled), two = new_execution(compiled);
  set_floats(one, first, second);
  set_floats(two, second, third);
  const int fence = eventfd(0, EFD_CLOEXEC);
  ANeuralNetworksEvent* made = nullptr;
  REQUIRE(ANeuralNetworksEvent_createFromSyncFenceFd(fence, &made) == 0);
  const Event signal(made, ANeuralNetworksEvent_free);
  const ANeuralNetworksEvent* only = signal.get();
  REQUIRE(ANeuralNetworksExecution_startComputeWithDependencies(one.get(), &only, 1, 0, &made) == 0);
  const Event one_done(made, ANeuralNetworksEvent_free);
  const ANeuralNetworksEvent* both[] = {signal.get(), one_done.get()};
  REQUIRE(ANeuralNetworksExecution_startComputeWithDependencies(two.get(), both, 2, 1'000'000'000, &made) == 0);
  const Event two_done(made, ANeuralNetworksEvent_free);
  const uint64_t tick = 1;
  REQUIRE(write(fence, &tick, sizeof tick) == sizeof tick);
  CHECK(ANeuralNetworksEvent_wait(two_done.get()) == 0);
  CHECK(third == std::vector<float>{3, 4});
  CHECK(ANeuralNetworksEvent_wait(signal.get()) == 0);
  int copy = -1;
  CHECK(ANeuralNetworksEvent_getSyncFenceFd(signal.get(), &copy) == 0);
  CHECK(copy > 0);
  CHECK(copy != fence);
  close(copy);
  close(fence);
  refuses(kBadData, "getSyncFenceFd: no sync fence is behind the event",
          [&] { return ANeuralNetworksEvent_getSyncFenceFd(two_done.get(), &copy); });
  CHECK(copy == -1);
}

TEST_CASE("a computation after one that fails", "[execution][threads]") {
  const Model condition = built(always_true()), body = built(plus_one({1}));
  const Compiled bad(endless(condition, body)), good(plus_one({1}));
  const Execution one = new_execution(bad), two = new_execution(good);
  std::vector<float> input = {1}, between(1), output(1);
  set_floats(one, input, between);
  set_floats(two, input, output);
  REQUIRE(ANeuralNetworksExecution_setLoopTimeout(one.get(), 1'000'000) == 0);
  StderrCapture capture;
  const Event first = start(one);
  const ANeuralNetworksEvent* dependency = first.get();
  ANeuralNetworksEvent* made = nullptr;
  REQUIRE(ANeuralNetworksExecution_startComputeWithDependencies(two.get(), &dependency, 1, 0, &made) == 0);
  const Event second(made, ANeuralNetworksEvent_free);
  CHECK(ANeuralNetworksEvent_wait(second.get()) == kFailed);
  CHECK(capture.text().find("dependency 0 has failed") != std::string::npos);
  CHECK(output[0] == 0);
}

TEST_CASE("a computation after others has its own time", "[execution][threads]") {
  const Compiled compiled(plus_one({64, 64}, 50));
  const std::vector<float> input(64 * 64);
  std::vector<float> output(64 * 64);
  for (const uint64_t time : {uint64_t{1}, uint64_t{10'000'000'000}}) {
    const Execution execution = new_execution(compiled);
    set_floats(execution, input, output);
    StderrCapture capture;
    ANeuralNetworksEvent* made = nullptr;
    REQUIRE(ANeuralNetworksExecution_startComputeWithDependencies(execution.get(), nullptr, 0, time, &made) == 0);
    const Event event(made, ANeuralNetworksEvent_free);
    CHECK(ANeuralNetworksEvent_wait(event.get()) == (time == 1 ? kLate : 0));
  }
}

TEST_CASE("sync fences that are none", "[execution]") {
  for (const int fd : {-1, 0, 100000}) {
    ANeuralNetworksEvent* event = nullptr;
    refuses(kBadData, "sync fence: file descriptor",
            [&] { return ANeuralNetworksEvent_createFromSyncFenceFd(fd, &event); });
    CHECK(event == nullptr);
  }
}

TEST_CASE("buffers longer than their values", "[execution]") {
  const Compiled compiled(plus_one({2}));
  std::vector<float> input = {1, 2, 99}, output = {7, 7, 7};
  const Execution strict = new_execution(compiled);
  refuses(kBadData, "input 0: 12 bytes found, 8 needed",
          [&] { return ANeuralNetworksExecution_setInput(strict.get(), 0, nullptr, input.data(), 12); });
  const Execution padded = new_execution(compiled);
  REQUIRE(ANeuralNetworksExecution_enableInputAndOutputPadding(padded.get(), true) == 0);
  set_floats(padded, input, output);
  refuses(kBadState, "enableInputAndOutputPadding: an input or output is set already",
          [&] { return ANeuralNetworksExecution_enableInputAndOutputPadding(padded.get(), false); });
  CHECK(ANeuralNetworksExecution_compute(padded.get()) == 0);
  CHECK(output == std::vector<float>{2, 3, 7});
  const Execution shorter = new_execution(compiled);
  REQUIRE(ANeuralNetworksExecution_enableInputAndOutputPadding(shorter.get(), true) == 0);
  refuses(kBadData, "input 0: 4 bytes found, at least 8 needed",
          [&] { return ANeuralNetworksExecution_setInput(shorter.get(), 0, nullptr, input.data(), 4); });
}

TEST_CASE("buffers at odd addresses", "[execution]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  std::vector<uint8_t> input = {0}, output(9);
  for (const uint8_t byte : bytes_of(std::vector<float>{1, 2})) input.push_back(byte);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data() + 1, 8) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data() + 1, 8) == 0);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  CHECK(std::vector<uint8_t>(output.begin() + 1, output.end()) == bytes_of(std::vector<float>{2, 3}));
}
