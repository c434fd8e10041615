// Sums, products and extremes of integers along axes, by operations on two numbers: NNAPI reduces floats only.
#pragma once

#include <vector>

#include "lib/ops/expression.h"

namespace nnapi_convert {

// ADD, MUL, MAXIMUM or MINIMUM of all elements along the axes, of fixed sizes.
Expression fold_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes, bool keeps_axes);

// True for integers that a reduction in float32 might round: those themselves, or the result.
bool rounds_integers(OperationCode code, const Expression& x, const std::vector<int64_t>& axes);

}  // namespace nnapi_convert
