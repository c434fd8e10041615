// SPDX-License-Identifier: BSD-3-Clause
// Turns NNAPI's constants into PyTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "lib/nnapi/constant.h"

namespace nnapi_convert {

at::ScalarType scalar_type(nnapi::DataType type);

// Returns the evaluated constant. Without a recipe it is a view of the constant's bytes, which keeps their owner alive.
at::Tensor to_tensor(const nnapi::Constant& constant);

}  // namespace nnapi_convert
