// SPDX-License-Identifier: BSD-3-Clause
// Tells the caller of a conversion which stage runs, and hands the stage's text form to on_dump.
#pragma once

#include <string>

#include "lib/base/watched_run.h"
#include "lib/types/options.h"

namespace nnapi_convert {

class Stages {
 public:
  explicit Stages(const StageCallbacks& callbacks) : callbacks_(callbacks) {}

  void begin(const char* stage) {
    stage_ = stage;
    tell_step(stage_);
    if (callbacks_.on_stage) callbacks_.on_stage(stage);
  }

  // Calls `make_text` only if on_dump is set.
  template <typename MakeText>
  void end(MakeText make_text) {
    if (callbacks_.on_dump) callbacks_.on_dump(stage_, make_text());
  }

 private:
  const StageCallbacks& callbacks_;
  std::string stage_;
};

}  // namespace nnapi_convert
