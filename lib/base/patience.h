// SPDX-License-Identifier: BSD-3-Clause
// How long a process that runs a user's model may show no sign of life (watched_run.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "lib/base/watched_run.h"

namespace nnapi_convert {

// Longer than any step takes that ends at all, and short enough to wait for.
constexpr uint64_t kSecondsOfStep = 30;

// Measures a process's time without a sign of life. Both its wall-clock and its CPU time must pass the limit, as the
// process may wait for the disk or for its share of a busy machine.
class Patience {
 public:
  Patience() = default;
  Patience(pid_t process, const WatchedRun* run) : process_(process), run_(run) {}

  // Returns true if the process passed its limit without a sign of life. Call it a few times a second.
  bool is_over();
  // Returns the message about a process that passed its limit.
  std::string reason() const;

 private:
  using Clock = std::chrono::steady_clock;

  pid_t process_ = -1;
  const WatchedRun* run_ = nullptr;
  uint64_t signs_ = 0;
  Clock::time_point begin_ = Clock::now();
  double cpu_begin_ = 0, seconds_ = 0;
};

// Returns the step that a run is in, for people: `the step "infer"`.
std::string step_of(const WatchedRun& run);
// Returns the message about a process whose stack is full.
std::string full_stack_text(const WatchedRun& run);

}  // namespace nnapi_convert
