// SPDX-License-Identifier: BSD-3-Clause
// Counts runs of the model while it is quantised, to tell how long the rest takes. The expected number is an estimate:
// only at the end all runs are reported as done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace nnapi_convert::quantise {

class RunMeter {
 public:
  using Show = std::function<void(size_t done, size_t all)>;
  explicit RunMeter(Show show) : show_(std::move(show)) {}

  // Sets how many runs are expected from now on.
  void expect(size_t runs) { all_ = done_ + runs; }
  void count(size_t runs = 1) {
    done_ += runs;
    if (show_) show_(done_, std::max(all_, done_ + 1));
  }
  void finish() {
    if (show_ && done_ > 0) show_(done_, done_);
  }

 private:
  Show show_;
  size_t done_ = 0, all_ = 0;
};

}  // namespace nnapi_convert::quantise
