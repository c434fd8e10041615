// How the values of operand types lie in tensors.
#pragma once

#include <ATen/ATen.h>

#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

// The tensor type that holds an operand type's values, and a view of memory as such a tensor.
at::ScalarType storage_type(OperandCode type);
at::Tensor view_of(const void* data, OperandCode type, const Dims& dims);

}  // namespace nnapi_convert::host
