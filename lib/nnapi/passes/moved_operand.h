// SPDX-License-Identifier: BSD-3-Clause
// Appends the operations that give an operand with its axes in another order.
#pragma once

#include <vector>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {

// Returns true if the operand is the same in every order: a scalar, or a tensor with all sizes 1.
bool is_single_value(const Model& model, OperandId id);

// Returns an operand with its axes moved, by a constant's recipe, a RESHAPE or a TRANSPOSE. Bools are moved as float32;
// a TILE of a single value is made again.
OperandId moved(Builder& builder, OperandId id, const std::vector<int64_t>& order);

}  // namespace nnapi_convert::nnapi
