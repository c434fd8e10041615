// What LibTorch's exceptions say, without its traces.
#pragma once

#include <exception>
#include <string>

namespace nnapi_convert {

// PyTorch's reason: the first line behind the trace through the model's code where there is one, without a backtrace
// through LibTorch.
std::string torch_reason(const std::exception& error);

}  // namespace nnapi_convert
