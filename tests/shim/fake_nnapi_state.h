// SPDX-License-Identifier: BSD-3-Clause
// Holds the state of the fake NNAPI for all its parts: settings and records, objects, and the counting of calls.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/host_runtime/neural_networks.h"
#include "tests/shim/fake_nnapi.h"

struct ANeuralNetworksDevice {
  fake_nnapi::DeviceSetting setting;
};
// What stands for Android's buffers: a descriptor of so many bytes.
struct AHardwareBuffer {
  int fd;
  size_t bytes;
};
struct ANeuralNetworksMemory {
  size_t size;
  uint8_t* data;
  ~ANeuralNetworksMemory();
};
struct ANeuralNetworksModel {
  std::vector<size_t> operand_bytes;
  std::vector<int> operations;
  std::vector<uint32_t> inputs, outputs;
  bool finished = false;
  std::atomic<int> users{0};  // compilations and models
  std::vector<ANeuralNetworksModel*> refers_to;
  ~ANeuralNetworksModel() {
    for (ANeuralNetworksModel* other : refers_to) --other->users;
  }
};
struct ANeuralNetworksCompilation {
  ANeuralNetworksModel* model;
  bool finished = false, for_one_device = false;
  std::atomic<int> users{0};  // executions and bursts
  ~ANeuralNetworksCompilation() { --model->users; }
};
struct ANeuralNetworksBurst {
  ANeuralNetworksCompilation* compilation;
  bool busy = false;
  ~ANeuralNetworksBurst() { --compilation->users; }
};
struct ANeuralNetworksExecution {
  ANeuralNetworksCompilation* compilation;
  bool reusable = false, busy = false, computed = false, measured = false;
  std::vector<std::pair<const uint8_t*, size_t>> inputs = {};
  std::vector<std::pair<uint8_t*, size_t>> outputs = {};
  ~ANeuralNetworksExecution() { --compilation->users; }
};
struct ANeuralNetworksEvent {
  int code;
};

namespace fake_nnapi {

constexpr int kNoError = 0, kBadData = 4, kBadState = 6;

// The mutex guards the variables below.
extern std::mutex mutex;
extern Settings settings;
extern Record records;
extern std::vector<std::unique_ptr<ANeuralNetworksDevice>> devices;
extern std::set<const void*> live_objects;

// Records a violation; the caller holds the mutex.
void violate(const std::string& text);
// Counts the call. Returns 0, or the code that the call has to return.
int enter(const char* function);
void count(const char* function);
void check(bool holds, const char* function, const char* what);
void sleep_ms(uint32_t time);

template <typename Object>
Object* made(Object* object) {
  const std::lock_guard<std::mutex> lock(mutex);
  live_objects.insert(object);
  records.live = static_cast<int>(live_objects.size());
  return object;
}

template <typename Object>
void free_object(const char* function, Object* object) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++records.calls[function];
    if (!object) return;
    if (live_objects.erase(object) == 0) {
      violate(std::string(function) + ": not a living object");
      return;
    }
    records.live = static_cast<int>(live_objects.size());
  }
  delete object;
}

}  // namespace fake_nnapi

// Counts the call, and returns from it with the code that a test asked for, if any.
#define ENTER()                                          \
  do {                                                   \
    if (const int code_ = enter(__func__)) return code_; \
  } while (false)
#define RECORD(statement)                          \
  do {                                             \
    const std::lock_guard<std::mutex> lock(mutex); \
    statement;                                     \
  } while (false)
