// SPDX-License-Identifier: BSD-3-Clause
// Reduces integers along axes by elementwise operations on parts of the tensor: NNAPI's reductions take floats only.
#pragma once

#include <vector>

#include "lib/ops/expression.h"

namespace nnapi_convert {

// Combines all elements along the axes by ADD, MUL, MAXIMUM or MINIMUM. The sizes have to be fixed.
Expression fold_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes);

// Returns the argument "self" as PyTorch reduces it: where the result is an integer, each float loses its fraction
// before. The numbers are integers if the node can fold them (`folds`) and the feature level has arithmetic of
// integers, else whole numbers in float32, with a warning of the rounding.
Expression reduced_numbers(OpContext& ctx, bool folds);

// True if a reduction in float32 might round the integers or the result.
bool rounds_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes);

}  // namespace nnapi_convert
