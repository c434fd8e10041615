// SPDX-License-Identifier: BSD-3-Clause
// Fakes a small NNAPI for the shim's tests. It builds, compiles and runs nothing, but checks the API's rules and counts
// calls and objects. A test can make it fail at a call, answer slowly or refuse operations.
//
// It is built several times, each with the functions of one feature level (libfake_nnapi_level1.so to level5) and once
// as a support library. A test loads one, calls fake_nnapi() for this interface, and lets the shim load the same path.
//
// Computing writes to byte k of output j: input[j % inputs][k % its length] + 1.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_nnapi {

struct DeviceSetting {
  std::string name;
  int32_t type = 2;  // ANEURALNETWORKS_DEVICE_*
  int64_t level = 31;
  std::vector<int> refuses;  // operation codes
};

struct Settings {
  int64_t level_code = 31;  // the result of getRuntimeFeatureLevel
  std::vector<DeviceSetting> devices = {{"nnapi-reference", 2, 31, {}}};
  // The call with this number (from 0, counting calls that return a code) returns `fail_code`. -1: no call.
  int fail_call = -1;
  std::string fail_function;  // each call of this function returns `fail_code`, too
  int fail_code = 5;
  uint32_t compile_sleep_ms = 0, compute_sleep_ms = 0;
  int slow_operation = -1;  // only models with this operation sleep when they compute; -1: all
};

struct Record {
  std::map<std::string, int> calls;
  std::vector<std::string> order;       // the calls of functions that return a code, in order
  int live = 0;                         // objects made and not freed
  std::vector<std::string> violations;  // violations of the API's rules
  // The last preference and priority that were set.
  int preference = -1, priority = -1;
  uint64_t compile_timeout = 0, execute_timeout = 0, loop_timeout = 0;
  bool relaxed = false, measured = false;
  std::string cache_directory;
  std::vector<uint8_t> token;
  std::vector<std::string> compiled_for;
  int values_by_pointer = 0, values_from_memory = 0, values_from_model = 0, omitted_values = 0, channel_scales = 0;
  std::vector<std::vector<uint8_t>> values;  // the bytes of constants, in the order of the calls
  int shared_tensors = 0;                    // inputs and outputs in memories
  int at_once = 0, most_at_once = 0;         // computations at the same time
};

class Fake {
 public:
  virtual ~Fake() = default;
  // Starts anew. Don't call it while an object of the fake is used.
  virtual void reset(const Settings& settings) = 0;
  // Changes the settings for later calls.
  virtual void set(const Settings& settings) = 0;
  virtual Record record() = 0;
};

}  // namespace fake_nnapi
