// SPDX-License-Identifier: BSD-3-Clause
// Shortens the messages of LibTorch's exceptions: leaves out the traces.
#pragma once

#include <exception>
#include <string>

namespace nnapi_convert {

// Returns the one line of the message that states PyTorch's reason, without the backtrace through LibTorch and without
// the trace through the model's code.
std::string torch_reason(const std::exception& error);

}  // namespace nnapi_convert
