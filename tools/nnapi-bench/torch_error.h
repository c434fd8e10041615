// LibTorch's exceptions as text for people.
#pragma once

#include <exception>
#include <string>

namespace nnapi_bench {

// The message on one line: what was raised by a module, without LibTorch's trace of the call.
std::string message_of(const std::exception& error);

}  // namespace nnapi_bench
