// SPDX-License-Identifier: BSD-3-Clause
// Shortens LibTorch's messages.
#include "tools/nnapi-bench/torch_error.h"

#include <c10/util/Exception.h>

#include <cstring>

#include "lib/base/split_text.h"

namespace nnapi_bench {

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  // After the trace through a module's code, LibTorch writes "RuntimeError: " and the module's own message.
  constexpr const char* kRaised = "RuntimeError: ";
  const size_t raised = text.rfind(kRaised);
  if (raised != std::string::npos) text.erase(0, raised + std::strlen(kRaised));
  return nnapi_convert::first_line(text);
}

}  // namespace nnapi_bench
