// SPDX-License-Identifier: BSD-3-Clause
// Keeps contexts for calls: each running call has one of its own, whose memory serves the next call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/program/operators.h"

namespace nnapi_shim {

class CallContexts {
 public:
  // Returns an idle context, or a new one, whose random numbers differ from those of earlier contexts.
  std::unique_ptr<program::Context> take();
  // Keeps a context whose values are gone for a later call. Frees one that still has memory in use, as its values refer
  // to each other.
  void give_back(std::unique_ptr<program::Context> context);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<program::Context>> idle_;
  uint64_t made_ = 0;
};

}  // namespace nnapi_shim
