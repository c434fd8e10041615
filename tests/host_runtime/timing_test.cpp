// SPDX-License-Identifier: BSD-3-Clause
// Measured durations and timeouts.
#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

TEST_CASE("durations are those of the last computation", "[timing]") {
  const OnDevice compiled(plus_one({64, 64}, 50));
  const Execution execution = execution_of(compiled.compilation);
  const std::vector<float> input(64 * 64);
  std::vector<float> output(64 * 64);
  REQUIRE(ANeuralNetworksExecution_setMeasureTiming(execution.get(), true) == 0);
  set_floats(execution, input, output);
  uint64_t hardware = 0, driver = 0, fenced = 0;
  refuses(kBadState, "getDuration: the execution has not computed yet",
          [&] { return ANeuralNetworksExecution_getDuration(execution.get(), 0, &hardware); });
  CHECK(hardware == UINT64_MAX);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  REQUIRE(ANeuralNetworksExecution_getDuration(execution.get(), 0, &hardware) == 0);
  REQUIRE(ANeuralNetworksExecution_getDuration(execution.get(), 1, &driver) == 0);
  CHECK(hardware > 0);
  CHECK(hardware < driver);
  CHECK(driver < 10'000'000'000);
  CHECK(ANeuralNetworksExecution_getDuration(execution.get(), 2, &fenced) == 0);
  CHECK(fenced == hardware);
  CHECK(ANeuralNetworksExecution_getDuration(execution.get(), 3, &fenced) == 0);
  CHECK(fenced == driver);
  refuses(kBadData, "getDuration: code 4 found, 0 to 3 needed",
          [&] { return ANeuralNetworksExecution_getDuration(execution.get(), 4, &hardware); });
  refuses(kBadState, "setMeasureTiming: the execution has started already",
          [&] { return ANeuralNetworksExecution_setMeasureTiming(execution.get(), true); });
}

TEST_CASE("durations that were not asked for", "[timing]") {
  const OnDevice compiled(plus_one({2}));
  const Execution execution = execution_of(compiled.compilation);
  const std::vector<float> input(2);
  std::vector<float> output(2);
  set_floats(execution, input, output);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  uint64_t duration = 0;
  refuses(kBadState, "getDuration: the execution was not asked to measure it",
          [&] { return ANeuralNetworksExecution_getDuration(execution.get(), 0, &duration); });
}

TEST_CASE("timing and timeouts need one chosen device", "[timing]") {
  const Compiled compiled(plus_one({2}));
  const Execution execution = new_execution(compiled);
  refuses(kBadData, "setMeasureTiming: a compilation for exactly one chosen device is needed",
          [&] { return ANeuralNetworksExecution_setMeasureTiming(execution.get(), true); });
  refuses(kBadData, "setTimeout: a compilation for exactly one chosen device is needed",
          [&] { return ANeuralNetworksExecution_setTimeout(execution.get(), 1); });
  refuses(kBadData, "setTimeout: a compilation for exactly one chosen device is needed",
          [&] { return ANeuralNetworksCompilation_setTimeout(compiled.compilation.get(), 1); });
}

TEST_CASE("an execution's time", "[timing]") {
  const OnDevice compiled(plus_one({64, 64}, 50));
  const std::vector<float> input(64 * 64);
  std::vector<float> output(64 * 64);
  for (const uint64_t time : {uint64_t{0}, uint64_t{10'000'000'000}, UINT64_MAX}) {
    const Execution execution = execution_of(compiled.compilation);
    REQUIRE(ANeuralNetworksExecution_setTimeout(execution.get(), time) == 0);
    set_floats(execution, input, output);
    CHECK(ANeuralNetworksExecution_compute(execution.get()) == 0);
  }
  const Execution late = execution_of(compiled.compilation);
  REQUIRE(ANeuralNetworksExecution_setTimeout(late.get(), 1) == 0);
  set_floats(late, input, output);
  refuses(kLate, "not started, the execution's time is over",
          [&] { return ANeuralNetworksExecution_compute(late.get()); });
  refuses(kBadState, "setTimeout: the execution has started already",
          [&] { return ANeuralNetworksExecution_setTimeout(late.get(), 1); });
}

TEST_CASE("a compilation's time", "[timing]") {
  const Model model = built(plus_one({2}, 100));
  const Compilation compilation = compilation_for(model, device());
  REQUIRE(ANeuralNetworksCompilation_setTimeout(compilation.get(), 1) == 0);
  refuses(kLate, "ns taken, at most 1 needed", [&] { return ANeuralNetworksCompilation_finish(compilation.get()); });
  REQUIRE(ANeuralNetworksCompilation_setTimeout(compilation.get(), 0) == 0);
  CHECK(ANeuralNetworksCompilation_finish(compilation.get()) == 0);
  refuses(kBadState, "setTimeout: the compilation is finished already",
          [&] { return ANeuralNetworksCompilation_setTimeout(compilation.get(), 1); });
}
