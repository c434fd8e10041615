// SPDX-License-Identifier: BSD-3-Clause
// Tells which types of tensors hold callers' floats.
#pragma once

#include <cstdint>

#include "lib/format/nnapi_codes.h"

namespace nnapi_shim {

inline bool is_float(int32_t type) {
  return type == static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_FLOAT32);
}

// Returns whether tensors of this type can stand for floats, by their scale and zero point.
inline bool is_8_bit(int32_t type) {
  return type == static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_QUANT8_ASYMM) ||
         type == static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
}

}  // namespace nnapi_shim
