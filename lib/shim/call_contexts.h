// SPDX-License-Identifier: BSD-3-Clause
// Contexts of calls: each call that runs has one of its own, and what it leaves of memory serves the next call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/program/operators.h"

namespace nnapi_shim {

class CallContexts {
 public:
  // Gives an idle context, or a new one, whose random numbers are others than those of the ones before.
  std::unique_ptr<program::Context> take();
  // The context holds no values any more; one that still has memory in use, as values refer to each other, is freed.
  void give_back(std::unique_ptr<program::Context> context);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<program::Context>> idle_;
  uint64_t made_ = 0;
};

}  // namespace nnapi_shim
