// SPDX-License-Identifier: BSD-3-Clause
// Finds the range of the integers in an operand while a node is lowered.
#pragma once

#include <optional>

#include "lib/ops/integer_range.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the range of an operand that is an input of the node, a constant, or computed from these by operations of the
// node's rule; nothing if it is unknown or depends on floats of the model.
std::optional<IntegerRange> operand_range(OpContext& ctx, nnapi::OperandId id);

// True if the numbers in the operand depend on floats of the model.
bool depends_on_floats(OpContext& ctx, nnapi::OperandId id);

}  // namespace nnapi_convert
