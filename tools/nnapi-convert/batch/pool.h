// SPDX-License-Identifier: BSD-3-Clause
// Runs tasks in worker processes, with a limited number of workers and a memory budget. Each task has its own process,
// forked from this one with LibTorch loaded. So a task starts within milliseconds, and a task that crashes does not
// affect other tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/nnapi-convert/batch/outcome.h"

namespace nnapi_convert {

struct PoolRequest {
  std::vector<size_t> order;                 // the tasks' numbers, in the order of starting
  int jobs = 1;                              // workers at a time
  uint64_t memory = 0;                       // bytes of resident memory, with this process; 0: no limit
  uint64_t reserved = 0;                     // bytes of a worker's address space that `memory` doesn't count
  double timeout = 0;                        // seconds for one task; 0: no limit
  uint64_t step_seconds = 0;                 // for a step without a sign of life (lib/base/patience.h); 0: no limit
  bool keep_going = false;                   // false: start no task after a task failed
  std::function<Outcome(size_t)> work;       // runs in the worker
  std::function<uint64_t(size_t)> estimate;  // bytes that a task's worker will need
  std::function<void(size_t, Outcome&)> on_done;  // called for each task that was started
  std::function<void()> on_tick;                  // called several times a second
};

struct PoolResult {
  int signal = 0;           // SIGINT, SIGTERM or SIGHUP, if one of them ended the run
  uint64_t peak_bytes = 0;  // most resident memory of all processes together, as sampled
};

// Blocks until all tasks are done; after a failure or a signal, until the started tasks are done. All other
// threads of the process have to wait.
PoolResult run_pool(const PoolRequest& request);

// Returns the resident memory of this process in bytes.
uint64_t own_resident_bytes();

}  // namespace nnapi_convert
