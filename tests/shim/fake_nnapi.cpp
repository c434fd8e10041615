// SPDX-License-Identifier: BSD-3-Clause
// The fake's settings and records. The linker cuts its exports (tests/shim/CMakeLists.txt).
#include "tests/shim/fake_nnapi.h"

#include <chrono>
#include <thread>

#include "tests/shim/fake_nnapi_state.h"

namespace fake_nnapi {

namespace {

std::vector<std::unique_ptr<ANeuralNetworksDevice>> make_devices(const Settings& settings) {
  std::vector<std::unique_ptr<ANeuralNetworksDevice>> made;
  for (const DeviceSetting& device : settings.devices) {
    made.push_back(std::unique_ptr<ANeuralNetworksDevice>(new ANeuralNetworksDevice{device}));
  }
  return made;
}

}  // namespace

std::mutex mutex;
Settings settings;
Record records;
std::vector<std::unique_ptr<ANeuralNetworksDevice>> devices =
    make_devices(Settings());  // for programs that don't reset
std::set<const void*> live_objects;

void violate(const std::string& text) {
  records.violations.push_back(text);
}

int enter(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++records.calls[function];
  const int number = static_cast<int>(records.order.size());
  records.order.emplace_back(function);
  const bool fails = number == settings.fail_call || settings.fail_function == function;
  return fails ? settings.fail_code : kNoError;
}

void count(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++records.calls[function];
}

void check(bool holds, const char* function, const char* what) {
  if (holds) return;
  const std::lock_guard<std::mutex> lock(mutex);
  violate(std::string(function) + ": " + what);
}

void sleep_ms(uint32_t time) {
  if (time > 0) std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

namespace {

class TheFake : public Fake {
 public:
  void reset(const Settings& new_settings) override {
    const std::lock_guard<std::mutex> lock(mutex);
    settings = new_settings;
    records = Record();
    records.live = static_cast<int>(live_objects.size());
    devices = make_devices(settings);
  }
  void set(const Settings& new_settings) override {
    const std::lock_guard<std::mutex> lock(mutex);
    settings = new_settings;
  }
  Record record() override {
    const std::lock_guard<std::mutex> lock(mutex);
    return records;
  }
};

}  // namespace
}  // namespace fake_nnapi

extern "C" __attribute__((visibility("default"))) fake_nnapi::Fake* fake_nnapi_control() {
  static fake_nnapi::TheFake fake;
  return &fake;
}
