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

// LibTorch 2 warns of each kind of tensor that is to go, quantised ones among them, when a file with one is read.
// Silences it from now on; LibTorch 1.13 has no such warnings.
inline void silence_deprecations() {
#if TORCH_VERSION_MAJOR >= 2
  static const SilencedWarnings no_warnings;
#endif
}

}  // namespace nnapi_convert
