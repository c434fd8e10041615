// SPDX-License-Identifier: BSD-3-Clause
// Asks for the constant arguments of operations.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns whether the operand is a constant INT32 or TENSOR_INT32 of exactly these numbers.
inline bool is_numbers(const Model& model, OperandId id, const Dims& numbers) {
  const Dims* found = model.at(id).ints();
  return found != nullptr && *found == numbers;
}

inline bool is_number(const Model& model, OperandId id, int64_t number) {
  return is_numbers(model, id, {Dim(number)});
}

// Returns whether the operation has no fused activation. Its last argument has to be a FuseCode.
inline bool has_no_activation(const Model& model, const Operation& operation) {
  return is_number(model, operation.inputs.back(), static_cast<int64_t>(FuseCode::NONE));
}

}  // namespace nnapi_convert::nnapi
