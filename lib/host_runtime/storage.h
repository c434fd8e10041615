// SPDX-License-Identifier: BSD-3-Clause
// Stores the values of operands in ATen tensors.
#pragma once

#include <ATen/ATen.h>

#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

// Returns the scalar type of the tensors for an operand type; view_of returns memory as such a tensor, without a copy.
at::ScalarType storage_type(OperandCode type);
at::Tensor view_of(const void* data, OperandCode type, const Dims& dims);
// Returns view_of() if the memory is aligned for the type, otherwise a copy: apps may keep values at any address.
at::Tensor aligned_view_of(const void* data, OperandCode type, const Dims& dims);

}  // namespace nnapi_convert::host
