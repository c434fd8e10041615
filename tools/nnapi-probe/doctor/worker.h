// SPDX-License-Identifier: BSD-3-Clause
// Runs tasks in a child process, so that a driver that crashes or hangs takes only the child with it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace nnapi_doctor {

enum class TaskEnd { kDone, kCrashed, kHung, kNotStarted };

// A worker. The child is forked at the first task, keeps its loaded libraries for later tasks, and is replaced if it
// ended. It shares `bytes` bytes with this process: the caller writes a task there, and the child its answer.
class Worker {
 public:
  using Work = std::function<void(uint8_t* shared)>;

  // `work` runs in the child. The child's output goes to the file `log`; an empty name drops it. `limit_ns` is for each
  // task; a child's first task has twice the time.
  Worker(Work work, size_t bytes, uint64_t limit_ns, std::string log);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  uint8_t* shared() const { return shared_; }  // null if there was no memory
  // Runs the task that is in the shared bytes. After kCrashed, how() says how the child ended: "signal 11", "exit code
  // 1".
  TaskEnd run();
  const std::string& how() const { return how_; }
  // Returns how many tasks this child had done before the last one.
  uint32_t tasks_before() const { return tasks_before_; }
  void stop();

 private:
  bool start();
  [[noreturn]] void serve();
  void end_child();

  const Work work_;
  const size_t bytes_;
  const uint64_t limit_ns_;
  const std::string log_;
  uint8_t* shared_ = nullptr;
  pid_t child_ = -1;
  int to_child_ = -1, from_child_ = -1;
  uint32_t tasks_ = 0, tasks_before_ = 0;
  std::string how_;
};

}  // namespace nnapi_doctor
