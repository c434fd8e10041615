// SPDX-License-Identifier: BSD-3-Clause
// Chooses NNAPI or the CPU for modules that can run on both: measures the first calls on each, keeps the faster one,
// and stops using NNAPI after failures.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nnapi_shim {

// Several threads may call all functions at once.
class AutoSelect {
 public:
  enum class Side { kNnapi, kCpu };

  // Starts to measure calls. Reads an earlier choice from `file`, and later writes the choice there (empty: no file).
  void measure(const std::string& file);

  // Returns the side on which the next call should run.
  Side next();
  // Records the time of a call on `side`.
  void ran(Side side, uint64_t nanoseconds);
  // Records that NNAPI could not run a call; `for_good` means that NNAPI never will.
  void failed(bool for_good);

  // Returns "nnapi", "cpu" or "measuring".
  const char* choice();

 private:
  static constexpr size_t kWarmUps = 1, kMeasured = 5;  // numbers of calls for each side
  static constexpr int kMostFailures = 3;               // failures of NNAPI in a row

  void decide();

  std::mutex mutex_;
  bool is_measuring_ = false;
  Side side_ = Side::kNnapi;
  int failures_ = 0;
  std::vector<uint64_t> nnapi_, cpu_;  // nanoseconds of each call
  std::string file_;
};

}  // namespace nnapi_shim
