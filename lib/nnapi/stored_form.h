// SPDX-License-Identifier: BSD-3-Clause
// Tells whether a file stores a float32 weight as int8, in a quarter of its size. The module or the shim turns it into
// float32 at load: NNAPI sees a TENSOR_FLOAT32.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns whether the file stores the weight as int8: a TENSOR_FLOAT32 whose constant is of integers, and that has a
// scale for each of its channels. A number is an integer times the scale of its channel.
inline bool is_stored_as_int8(const Operand& operand) {
  return operand.type == OperandCode::TENSOR_FLOAT32 && operand.channels != nullptr;
}

}  // namespace nnapi_convert::nnapi
