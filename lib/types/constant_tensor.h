// NNAPI's constants as PyTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "lib/nnapi/constant.h"

namespace nnapi_convert {

at::ScalarType scalar_type(nnapi::DataType type);

// The evaluated constant: a view of its own bytes if it has no recipe, which keeps their owner alive.
at::Tensor to_tensor(const nnapi::Constant& constant);

}  // namespace nnapi_convert
