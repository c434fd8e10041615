// Exponentials and logarithms of what is next to 1, where a sum with 1 would lose all digits.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// exp(x) - 1 and log(x + 1), at most a few units in the last place off, also for infinities and NaN.
Expression expm1(const Expression& x);
Expression log1p(const Expression& x);
// log(exp(-|x|) + 1).
Expression log1p_exp_minus_abs(const Expression& x);
// The nearest finite number.
Expression finite(const Expression& x);

}  // namespace nnapi_convert
