// SPDX-License-Identifier: BSD-3-Clause
// Shows the progress of a batch on stderr: a bar on a terminal, otherwise a line for each model.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/nnapi-convert/batch/outcome.h"

namespace nnapi_convert {

class BatchProgress {
 public:
  // `sizes` are the sizes of the models' files, from which the remaining time is estimated.
  BatchProgress(std::vector<uint64_t> sizes, bool is_quiet);
  ~BatchProgress() { clear(); }
  BatchProgress(const BatchProgress&) = delete;
  BatchProgress& operator=(const BatchProgress&) = delete;

  void done(size_t number, const std::string& name, const Outcome& outcome);
  // Draws the bar anew.
  void tick();
  void clear();

 private:
  double seconds() const;
  std::string bar() const;
  std::string time_left() const;

  std::vector<uint64_t> sizes_;
  bool is_quiet_;
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t done_ = 0, failed_ = 0;
  double work_done_ = 0, work_up_to_date_ = 0, work_ = 0;  // bytes of files, plus kWorkOfModel for each model
};

}  // namespace nnapi_convert
