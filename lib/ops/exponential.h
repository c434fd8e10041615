// SPDX-License-Identifier: BSD-3-Clause
// Lowers exponentials and logarithms near 1 without losing digits in a sum with 1.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// Compute exp(x) - 1 and log(x + 1), at most a few units in the last place off; right for infinities and NaN, too,
// except that Android gives the largest float32 for an infinite result.
Expression expm1(const Expression& x);
Expression log1p(const Expression& x);
// Computes log(exp(-|x|) + 1).
Expression log1p_exp_minus_abs(const Expression& x);
// Replaces infinities by the nearest finite number.
Expression finite(const Expression& x);
// Returns x where it is infinite, else the other: NNAPI's arithmetic gives no infinite numbers.
Expression infinite_or(const Expression& x, const Expression& other);

}  // namespace nnapi_convert
