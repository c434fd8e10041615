// SPDX-License-Identifier: BSD-3-Clause
// Turns LibTorch's exceptions into text for people.
#pragma once

#include <exception>
#include <string>

namespace nnapi_bench {

// Returns the message on one line: the error that a module raised, without LibTorch's trace of the call.
std::string message_of(const std::exception& error);

}  // namespace nnapi_bench
