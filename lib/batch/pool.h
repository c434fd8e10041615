// Runs tasks in worker processes, within a number of workers and a budget of memory. Each task has a process of its
// own, forked from this one with LibTorch loaded: a task that crashes takes no other with it, leaves nothing behind for
// the next, and starts within milliseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lib/batch/outcome.h"

namespace nnapi_convert {

struct PoolRequest {
  std::vector<size_t> order;                      // the tasks' numbers, in the order of starting
  int jobs = 1;                                   // workers at a time
  uint64_t memory = 0;                            // bytes of resident memory, this process included; 0: any
  double timeout = 0;                             // seconds for one task; 0: any
  bool keep_going = false;                        // else nothing is begun after a task that fails
  std::function<Outcome(size_t)> work;            // in the worker
  std::function<uint64_t(size_t)> estimate;       // bytes that a task's worker will need
  std::function<void(size_t, Outcome&)> on_done;  // not for tasks that were never begun
  std::function<void()> on_tick;                  // several times a second
};

struct PoolResult {
  int signal = 0;           // SIGINT, SIGTERM or SIGHUP, if one of them ended the run
  uint64_t peak_bytes = 0;  // resident memory of all processes together, as often as it was looked at
};

// Blocks until all tasks are done, or those that were begun after a failure or a signal. Call it with one thread only.
PoolResult run_pool(const PoolRequest& request);

// Resident memory of this process, in bytes.
uint64_t own_resident_bytes();

}  // namespace nnapi_convert
