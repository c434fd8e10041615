// A small NNAPI for the shim's tests: it builds, compiles and runs nothing, but keeps the API's rules, counts calls and
// objects, and does what a test asks for: fail at a call, answer slowly, refuse operations.
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
  int64_t level_code = 31;  // of getRuntimeFeatureLevel
  std::vector<DeviceSetting> devices = {{"nnapi-reference", 2, 31, {}}};
  // The call of this number (from 0, of those that return a code) returns the code. -1: none.
  int fail_call = -1;
  std::string fail_function;  // or each call of this function
  int fail_code = 5;
  uint32_t compile_sleep_ms = 0, compute_sleep_ms = 0;
};

struct Record {
  std::map<std::string, int> calls;
  std::vector<std::string> order;       // the functions that return a code, as they were called
  int live = 0;                         // objects made and not freed
  std::vector<std::string> violations;  // of the API's rules
  // The last that was set.
  int preference = -1, priority = -1;
  uint64_t compile_timeout = 0, execute_timeout = 0, loop_timeout = 0;
  bool relaxed = false, measured = false;
  std::string cache_directory;
  std::vector<uint8_t> token;
  std::vector<std::string> compiled_for;
  int values_by_pointer = 0, values_from_memory = 0, values_from_model = 0, omitted_values = 0, channel_scales = 0;
  int at_once = 0, most_at_once = 0;  // computations
};

class Fake {
 public:
  virtual ~Fake() = default;
  // Starts anew. Not while anything of it is used.
  virtual void reset(const Settings& settings) = 0;
  // Changes what is done from now on.
  virtual void set(const Settings& settings) = 0;
  virtual Record record() = 0;
};

}  // namespace fake_nnapi
