// NNAPI or the CPU: for modules that hold both, measures the first calls of each and keeps the faster, and leaves NNAPI
// alone where it failed.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nnapi_shim {

// All functions may be called by several threads at once.
class AutoSelect {
 public:
  enum class Side { kNnapi, kCpu };

  // From now on calls are measured; what was found is kept in `file` (empty: nowhere) and read from it.
  void measure(const std::string& file);

  // What the next call should run on.
  Side next();
  // A call on a side took so long.
  void ran(Side side, uint64_t nanoseconds);
  // NNAPI could not run a call; `for_good`: and never will.
  void failed(bool for_good);

  // "nnapi", "cpu", or "measuring".
  const char* choice();

 private:
  static constexpr size_t kWarmUps = 1, kMeasured = 5;  // calls of each side
  static constexpr int kMostFailures = 3;               // in a row

  void decide();

  std::mutex mutex_;
  bool is_measuring_ = false;
  Side side_ = Side::kNnapi;
  int failures_ = 0;
  std::vector<uint64_t> nnapi_, cpu_;  // nanoseconds of each call
  std::string file_;
};

}  // namespace nnapi_shim
