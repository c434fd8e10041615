// One worker: a forked process that does one piece of work and hands back its outcome.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

#include "lib/batch/outcome.h"

namespace nnapi_convert {

// Resident memory of a process, in bytes, shared pages included; 0 if there is none.
uint64_t resident_bytes_of(pid_t process);

class WorkerProcess {
 public:
  // Starts it. `memory`, if not 0, is a limit to its data that makes allocation fail. The worker dies with this
  // process, takes `signals` as its mask, and leaves SIGINT from a terminal to this process. Its standard streams go to
  // a log in memory. Throws ConvertError (kInternal) if the system has no room for it.
  WorkerProcess(const std::function<Outcome()>& work, uint64_t memory, const sigset_t& signals);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  void kill();
  // True once it has ended; then the rest can be asked for.
  bool has_ended();
  uint64_t resident_bytes() const { return resident_bytes_of(process_); }
  uint64_t peak_bytes() const { return peak_bytes_; }
  // What the work gave back, or a crash.
  Outcome outcome() const;

 private:
  pid_t process_ = -1;
  int result_ = -1;  // files in memory
  int log_ = -1;
  bool has_ended_ = false;
  int status_ = 0;
  uint64_t peak_bytes_ = 0;
};

}  // namespace nnapi_convert
