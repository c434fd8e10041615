// SPDX-License-Identifier: BSD-3-Clause
// What the command shows while it works.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace nnapi_convert {

// Whether people asked for errors alone (--quiet).
bool is_quiet();

// Shows the stage on one line of a terminal, and wipes the line at the end. Elsewhere parts of a stage that takes long
// are shown now and then, each on a line of its own.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& stage);
  // How far a stage is. The rest takes as long as what was done so far took for as much. The share that is shown never
  // falls within a part, where more turns out to be left; a part begins anew where less was done than before.
  void show_part(const std::string& what, size_t done, size_t all);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void begin_part(const std::string& what, size_t done);
  // 0 where nothing tells it.
  double seconds_left(size_t done, size_t all, double seconds) const;
  std::string part_text(size_t done, size_t all, double seconds);

  bool is_shown_, shows_lines_;
  size_t done_ = 0;
  std::string part_;
  size_t first_done_ = 0, last_done_ = 0, percent_ = 0;  // of the part
  bool is_time_told_ = false;
  Clock::time_point begin_, last_line_ = Clock::now();
};

}  // namespace nnapi_convert
