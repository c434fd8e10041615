// SPDX-License-Identifier: BSD-3-Clause
// Threads that use one model at the same time.
#include <atomic>
#include <thread>

#include "tests/shim/session.h"

using namespace nnapi_shim::testing;
using fake_nnapi::Record;
using fake_nnapi::Settings;

namespace {

// One call of a model in a thread of its own; no checks, as Catch2's are for one thread.
struct Caller {
  Caller(nnapi_shim_model* shared, int64_t row_count)
      : model(shared), sizes{row_count, 64}, input(static_cast<size_t>(row_count) * 256), output(input.size()) {}
  bool run(uint8_t value) {
    const nnapi_shim_shape shape = {2, sizes};
    std::fill(input.begin(), input.end(), value);
    std::fill(output.begin(), output.end(), uint8_t{0});
    const nnapi_shim_buffer from = {input.data(), input.size()}, to = {output.data(), output.size()};
    if (nnapi_shim_run(model, &shape, 1, &from, 1, &to, 1, nullptr) != NNAPI_SHIM_OK) return false;
    for (const uint8_t byte : output) {
      if (byte != static_cast<uint8_t>(value + 1)) return false;
    }
    return true;
  }

  nnapi_shim_model* model;
  int64_t sizes[2];
  std::vector<uint8_t> input, output;
};

template <typename Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads: one new shape is compiled once", "[threads]") {
  Settings settings;
  settings.compile_sleep_ms = 50;
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  {
    Session session(three_operations());
    REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
    std::atomic<int> worked{0};
    in_threads(8, [&](int i) { worked += Caller(session.model(), 2).run(static_cast<uint8_t>(i)) ? 1 : 0; });
    CHECK(worked == 8);
    CHECK(nnapi.record().calls["ANeuralNetworksCompilation_finish"] == 1);
    CHECK(session.profile().executions == 8);
  }
  check_all_freed(nnapi);
}

TEST_CASE("threads: runs go on at the same time, with at most four bursts", "[threads]") {
  for (const std::string library : {"level1", "level3", "level5"}) {
    Settings settings;
    settings.compute_sleep_ms = 20;
    fake_nnapi::Fake& nnapi = fresh_fake(library, settings);
    {
      Session session(three_operations());
      REQUIRE(session.configure(library) == NNAPI_SHIM_OK);
      REQUIRE(session.warm_up(rows(1)) == NNAPI_SHIM_OK);
      std::atomic<int> worked{0};
      in_threads(8, [&](int i) {
        Caller caller(session.model(), 1);
        for (int k = 0; k < 5; ++k) worked += caller.run(static_cast<uint8_t>(8 * k + i)) ? 1 : 0;
      });
      CHECK(worked == 40);
    }
    Record record = nnapi.record();
    CHECK(record.most_at_once > 1);
    CHECK(record.calls["ANeuralNetworksBurst_create"] <= 4);
    CHECK(record.live == 0);
    CHECK(record.violations == std::vector<std::string>{});
  }
}

TEST_CASE("threads: shapes that drive each other out", "[threads]") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  {
    Session session(three_operations());
    nnapi_shim_options options{};
    options.max_compiled = 1;
    REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
    std::atomic<int> worked{0};
    in_threads(4, [&](int i) {
      Caller callers[2] = {{session.model(), 1 + i % 3}, {session.model(), 5}};
      for (int k = 0; k < 50; ++k) worked += callers[k % 2].run(static_cast<uint8_t>(k)) ? 1 : 0;
      nnapi_shim_profile profile;
      nnapi_shim_get_profile(session.model(), &profile);
    });
    CHECK(worked == 200);
    CHECK(session.profile().executions == 200);
  }
  check_all_freed(nnapi);
}

TEST_CASE("threads: a driver that dies under many runs", "[threads]") {
  Settings settings;
  settings.compute_sleep_ms = 1;
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  {
    Session session(three_operations());
    REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
    std::atomic<int> failed{0}, worked{0};
    in_threads(4, [&](int i) {
      Caller caller(session.model(), 1);
      for (int k = 0; k < 30; ++k) {
        if (i == 0 && k % 10 == 5) {
          Settings dead = settings;
          dead.fail_function = "ANeuralNetworksExecution_burstCompute";
          dead.fail_code = 14;
          nnapi.set(dead);
        }
        ++(caller.run(static_cast<uint8_t>(k)) ? worked : failed);
        if (i == 0 && k % 10 == 5) nnapi.set(settings);
      }
    });
    CHECK(worked + failed == 120);
    CHECK(failed >= 3);
    CHECK(worked > 0);
    CHECK(session.profile().executions == static_cast<uint64_t>(worked));
  }
  check_all_freed(nnapi);
}
