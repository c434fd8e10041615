// SPDX-License-Identifier: BSD-3-Clause
// Keeps LibTorch's warnings of its own operators from standard error.
#pragma once

#include <c10/util/Exception.h>
#include <torch/version.h>

namespace nnapi_convert {

// No warning of LibTorch is printed while such an object lives.
class SilencedWarnings {
 private:
  class Handler : public c10::WarningHandler {
   public:
#if TORCH_VERSION_MAJOR >= 2
    void process(const c10::Warning& /*warning*/) override {}
#else
    void process(const c10::SourceLocation& /*source*/, const std::string& /*message*/, bool /*is_verbatim*/) override {
    }
#endif
  };
#if TORCH_VERSION_MAJOR >= 2
  using Guard = c10::WarningUtils::WarningHandlerGuard;
#else
  using Guard = c10::Warning::WarningHandlerGuard;
#endif

  Handler handler_;
  Guard guard_{&handler_};
};

// Silences LibTorch's warnings from now on: they tell authors of Python code what to write instead.
inline void silence_warnings() {
  static const SilencedWarnings no_warnings;
}

}  // namespace nnapi_convert
