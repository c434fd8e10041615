// SPDX-License-Identifier: BSD-3-Clause
// Tells the caller of a conversion which stage runs, and hands the stage's text form to options.on_dump.
#pragma once

#include <string>

#include "lib/types/options.h"

namespace nnapi_convert {

class Stages {
 public:
  explicit Stages(const ConvertOptions& options) : options_(options) {}

  void begin(const char* stage) {
    stage_ = stage;
    if (options_.on_stage) options_.on_stage(stage);
  }

  // Calls `make_text` only if options.on_dump is set.
  template <typename MakeText>
  void end(MakeText make_text) {
    if (options_.on_dump) options_.on_dump(stage_, make_text());
  }

 private:
  const ConvertOptions& options_;
  std::string stage_;
};

}  // namespace nnapi_convert
