// SPDX-License-Identifier: BSD-3-Clause
// Sets the feature level that the library offers, for tests that run in several threads: the library takes the level
// from the environment, which threads share.
#pragma once

#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "lib/format/nnapi_codes.h"

namespace conformance {

// The library offers the level while this object lives. At the highest level several threads may work at once.
class LevelLock {
 public:
  explicit LevelLock(int level) {
    if (level == nnapi_convert::kHighestFeatureLevel) {
      shared_ = std::shared_lock(mutex());
    } else {
      alone_ = std::unique_lock(mutex());
      setenv(kVariable, std::to_string(level).c_str(), 1);
    }
  }
  ~LevelLock() {
    if (alone_) unsetenv(kVariable);
  }
  LevelLock(const LevelLock&) = delete;
  LevelLock& operator=(const LevelLock&) = delete;

 private:
  static constexpr const char* kVariable = "NNAPI_HOST_FEATURE_LEVEL";

  static std::shared_mutex& mutex() {
    static std::shared_mutex only;
    return only;
  }

  std::shared_lock<std::shared_mutex> shared_;
  std::unique_lock<std::shared_mutex> alone_;
};

}  // namespace conformance
