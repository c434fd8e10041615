// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/patience.h"

#include <fmt/format.h>

#include <ctime>

namespace nnapi_convert {
namespace {

double cpu_seconds_of(pid_t process) {
  clockid_t clock = {};
  timespec time = {};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  constexpr double kNanoseconds = 1e9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / kNanoseconds;
}

}  // namespace

bool Patience::is_over() {
  if (run_ == nullptr) return false;
  const uint64_t signs = run_->signs_of_life;
  if (signs != signs_) {
    signs_ = signs;
    begin_ = Clock::now();
    cpu_begin_ = cpu_seconds_of(process_);
    return false;
  }
  constexpr double kMilliseconds = 1e3;
  seconds_ = static_cast<double>(run_->seconds) + static_cast<double>(run_->more_milliseconds) / kMilliseconds;
  if (run_->seconds == 0 || std::chrono::duration<double>(Clock::now() - begin_).count() < seconds_) return false;
  return cpu_seconds_of(process_) - cpu_begin_ >= seconds_;
}

std::string Patience::reason() const {
  return fmt::format(
      "stopped: {} went on for {:.0f} s without progress: it may never end, or the machine is slow; "
      "--time-limit SECONDS gives it longer",
      step_of(*run_), seconds_);
}

std::string step_of(const WatchedRun& run) {
  return run.step[0] == '\0' ? "the start" : fmt::format("the step \"{}\"", run.step);
}

std::string full_stack_text(const WatchedRun& run) {
  return fmt::format("the stack is full at {}: the model's code or values are nested too deep", step_of(run));
}

}  // namespace nnapi_convert
