// SPDX-License-Identifier: BSD-3-Clause
// Lowers sorting along an axis: finds the first elements of the sorted order.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

struct Sorted {
  Expression values, indices;  // int64
};

// Returns the k greatest or least elements along an axis, sorted; equal elements keep their order. A tensor of rank 0
// has one element.
Sorted first_in_order(const Expression& x, size_t axis, int64_t k, bool largest);

}  // namespace nnapi_convert
