// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/exponential.h"

#include <cfloat>
#include <limits>

namespace nnapi_convert {
namespace {

// Computes log(whole), where `whole` is x + 1, and corrects it by the part of x that was lost in rounding the sum.
// `part` is x, or a number whose sum with 1 is exact if x needs no correction.
Expression corrected_log(const Expression& whole, const Expression& part) {
  const Expression sum = part + 1;
  return log(whole) + (part - (sum - 1)) / sum;
}

}  // namespace

// Computes exp(x) - 1 as tanh(x / 2) * (exp(x) + 1): tanh keeps the digits of a small x.
Expression expm1(const Expression& x) {
  return tanh(x * 0.5) * (exp(x) + 1);
}

// Computes log(x + 1). From -1 to -0.5, and above 2^20, next to nothing is rounded off; -1 and infinity get no
// correction. On Android infinity + 1 is finite: the maximum with x keeps infinity.
Expression log1p(const Expression& x) {
  return corrected_log(maximum(x + 1, x), minimum(maximum(x, -0.5), 1 << 20));
}

Expression log1p_exp_minus_abs(const Expression& x) {
  const Expression share = exp(-abs(x));
  return corrected_log(share + 1, share);
}

Expression finite(const Expression& x) {
  return minimum(maximum(x, -FLT_MAX), FLT_MAX);
}

Expression infinite_or(const Expression& x, const Expression& other) {
  const double infinity = std::numeric_limits<double>::infinity();
  return select(compare(OperationCode::EQUAL, abs(x), x.same(infinity)), x, other);
}

}  // namespace nnapi_convert
