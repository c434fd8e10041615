// SPDX-License-Identifier: BSD-3-Clause
// Shows the progress of a command.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace nnapi_convert {

// Returns whether only errors are wanted (--quiet).
bool is_quiet();

// Shows the stage on one line of a terminal, and clears the line at the end. Without a terminal, shows parts of a long
// stage now and then, each on a line of its own.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& stage);
  // Shows how far a stage is. Estimates the time left from the speed so far. The share shown never falls within a part,
  // even if more turns out to be left; if less is done than before, a new part begins.
  void show_part(const std::string& what, size_t done, size_t all);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void begin_part(const std::string& what, size_t done);
  // Returns the time left; 0 if it can't be estimated.
  double seconds_left(size_t done, size_t all, double seconds) const;
  std::string part_text(size_t done, size_t all, double seconds);

  bool is_shown_, shows_lines_;
  size_t done_ = 0;
  std::string part_;
  size_t first_done_ = 0, last_done_ = 0, percent_ = 0;  // values of the part
  bool is_time_told_ = false;
  Clock::time_point begin_, last_line_ = Clock::now();
};

}  // namespace nnapi_convert
