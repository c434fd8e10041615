// The first elements of an order along an axis.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

struct Sorted {
  Expression values, indices;  // int64
};

// The k greatest or least elements along an axis, in order; equal ones by their places. A tensor of rank 0 has one.
Sorted first_in_order(const Expression& x, size_t axis, int64_t k, bool largest);

}  // namespace nnapi_convert
