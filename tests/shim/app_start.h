// SPDX-License-Identifier: BSD-3-Clause
// Starts of an app, each in a process of its own, on an NNAPI with faults (faulty_nnapi.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "tests/shim/buffer_maker.h"
#include "tests/shim/faulty_nnapi.h"
#include "tests/temporary_folder.h"

namespace nnapi_shim::testing {

// three_operations() with two samples of two rows.
Description sampled_net();

enum class Outcome {
  kRight,   // all results were right
  kWrong,   // a result was wrong
  kFailed,  // a run failed with a status
  kDied,    // the process was killed
  kHung,    // the process had to be ended
};
const char* name_of(Outcome outcome);

struct Started {
  Outcome outcome = Outcome::kDied;
  std::string message;  // of a failure
  std::string devices;  // that the model was compiled for
  std::string last_failure;
  uint32_t checked_samples = 0;
  bool weights_are_mapped = false;
};

struct AppSetting {
  std::vector<faulty_nnapi::Fault> faults;
  std::string folder;         // for the cache; empty: none
  std::string version = "1";  // of the drivers
  int runs = 4;
  int64_t rows = 2;
  std::string archive;  // opened in place of the model in memory, so that NNAPI gets the weights by file descriptor
  double seconds = 3;   // after which the app is ended
  std::function<void(nnapi_shim_options*)> change_options;  // may be empty
  std::function<void()> before;                             // runs in the app's process first; may be empty
};

// Returns a fault of device alpha that comes with this run.
faulty_nnapi::Fault fault_of(faulty_nnapi::FaultKind kind, int run = 1);

AppSetting setting_of(const nnapi_convert::test::TemporaryFolder& folder,
                      const std::vector<faulty_nnapi::Fault>& faults);

// Returns a number that a forked process can set.
int* shared_number();

// Forks, runs the model in the child and compares each result with the right one.
Started start_app(const Description& net, const AppSetting& setting);

// Writes the model into a file of the folder, as nnapi-convert does; returns the path.
std::string write_archive(const Description& net, const std::string& folder);

// Returns how often the devices were asked to compile, and to run, since the log was read last.
struct Attempts {
  std::vector<std::string> compiled, run;
  int compiled_for(const std::string& device) const;
};
Attempts take_attempts(const std::string& folder);

}  // namespace nnapi_shim::testing
