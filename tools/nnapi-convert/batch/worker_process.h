// SPDX-License-Identifier: BSD-3-Clause
// Runs one worker: a forked process that does one piece of work and hands back its outcome.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

#include "lib/base/patience.h"
#include "tools/nnapi-convert/batch/outcome.h"

namespace nnapi_convert {

// Returns the resident memory of a process in bytes, including shared pages; 0 if there is no such process.
uint64_t resident_bytes_of(pid_t process);

class WorkerProcess {
 public:
  // Starts the worker. `memory`, if not 0, limits the bytes of its data: further allocations fail. `step_seconds`
  // limits the time of a step without a sign of life; 0: no limit. The worker dies with this process, takes `signals`
  // as its signal mask, and ignores SIGINT. Its standard streams go to a log in memory. Throws ConvertError (kInternal)
  // if the system can't start another process.
  WorkerProcess(const std::function<Outcome()>& work, uint64_t memory, uint64_t step_seconds, const sigset_t& signals);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  void kill();
  // Returns why the worker is to be stopped, if it shows no sign of life for too long; else an empty text.
  std::string why_stuck() { return patience_.is_over() ? patience_.reason() : ""; }
  // Returns true if the worker has ended. The functions below need an ended worker, except resident_bytes().
  bool has_ended();
  uint64_t resident_bytes() const { return resident_bytes_of(process_); }
  uint64_t peak_bytes() const { return peak_bytes_; }
  // Returns the outcome of the work, or of a crash.
  Outcome outcome() const;

 private:
  pid_t process_ = -1;
  WatchedRun* run_ = nullptr;
  Patience patience_;
  int result_ = -1;  // the descriptors of files in memory
  int log_ = -1;
  bool has_ended_ = false;
  int status_ = 0;
  uint64_t peak_bytes_ = 0;
};

}  // namespace nnapi_convert
