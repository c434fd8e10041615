// SPDX-License-Identifier: BSD-3-Clause
// Bursts.
#include <mutex>
#include <thread>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

using Burst = std::unique_ptr<ANeuralNetworksBurst, decltype(&ANeuralNetworksBurst_free)>;

Burst burst_of(const Compiled& compiled) {
  ANeuralNetworksBurst* burst = nullptr;
  REQUIRE(ANeuralNetworksBurst_create(compiled.compilation.get(), &burst) == 0);
  return Burst(burst, ANeuralNetworksBurst_free);
}

}  // namespace

TEST_CASE("a burst of executions", "[burst]") {
  const Compiled compiled(plus_one({2}));
  const Burst burst = burst_of(compiled);
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    const Execution execution = new_execution(compiled);
    const std::vector<float> input = {value, 0};
    std::vector<float> output(2);
    set_floats(execution, input, output);
    REQUIRE(ANeuralNetworksExecution_burstCompute(execution.get(), burst.get()) == 0);
    CHECK(output == std::vector<float>{value + 1, 1});
  }
}

TEST_CASE("what a burst refuses", "[burst]") {
  const Compiled compiled(plus_one({2})), other(plus_one({2}));
  const Burst burst = burst_of(other);
  const Execution execution = new_execution(compiled);
  const std::vector<float> input = {1, 2};
  std::vector<float> output(2);
  set_floats(execution, input, output);
  refuses(kBadData, "burstCompute: the burst is of another compilation",
          [&] { return ANeuralNetworksExecution_burstCompute(execution.get(), burst.get()); });
  refuses(kNull, "burstCompute: burst: null found",
          [&] { return ANeuralNetworksExecution_burstCompute(execution.get(), nullptr); });
  ANeuralNetworksCompilation* unfinished = nullptr;
  REQUIRE(ANeuralNetworksCompilation_create(compiled.model.get(), &unfinished) == 0);
  ANeuralNetworksBurst* made = nullptr;
  refuses(kBadState, "burst: the compilation is not finished",
          [&] { return ANeuralNetworksBurst_create(unfinished, &made); });
  CHECK(made == nullptr);
  ANeuralNetworksCompilation_free(unfinished);
}

TEST_CASE("a burst computes one execution at a time", "[burst][threads]") {
  const Compiled compiled(plus_one({64, 64}, 20));
  const Burst burst = burst_of(compiled);
  const std::vector<float> input(64 * 64, 1);
  int done = 0, busy = 0;
  std::mutex mutex;
  StderrCapture capture;
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      std::vector<float> output(64 * 64);
      ANeuralNetworksExecution* execution = nullptr;
      ANeuralNetworksExecution_create(compiled.compilation.get(), &execution);
      ANeuralNetworksExecution_setInput(execution, 0, nullptr, input.data(), input.size() * 4);
      ANeuralNetworksExecution_setOutput(execution, 0, nullptr, output.data(), output.size() * 4);
      const int code = ANeuralNetworksExecution_burstCompute(execution, burst.get());
      const bool right = output == std::vector<float>(64 * 64, 21);
      const std::lock_guard<std::mutex> lock(mutex);
      done += code == 0 && right;
      busy += code == kBadState;
      ANeuralNetworksExecution_free(execution);
    }
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  CHECK(done + busy == 40);
  CHECK(done > 0);
}
