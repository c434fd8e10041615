// SPDX-License-Identifier: BSD-3-Clause
// How long a process that runs a user's model may show no sign of life (watched_run.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "lib/base/watched_run.h"

namespace nnapi_convert {

// More than steps take that end, and short enough to wait for.
constexpr uint64_t kSecondsOfStep = 30;

// Counts time in which the process both lasted and computed: it may wait for the disk, or for its share of a busy
// machine.
class Patience {
 public:
  Patience() = default;
  Patience(pid_t process, const WatchedRun* run) : process_(process), run_(run) {}

  // To be asked a few times a second.
  bool is_over();
  // What is said of a process whose time is over.
  std::string reason() const;

 private:
  using Clock = std::chrono::steady_clock;

  pid_t process_ = -1;
  const WatchedRun* run_ = nullptr;
  uint64_t signs_ = 0;
  Clock::time_point begin_ = Clock::now();
  double cpu_begin_ = 0, seconds_ = 0;
};

// The step that a run is in, for people: `the step "infer"`.
std::string step_of(const WatchedRun& run);
// What is said of a process whose stack is full.
std::string full_stack_text(const WatchedRun& run);

}  // namespace nnapi_convert
