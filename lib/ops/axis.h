// SPDX-License-Identifier: BSD-3-Clause
// Helps rules that work along one axis: groups the sizes of a tensor into [before, axis, behind]. A tensor of rank 0 is
// treated as one of rank 1 with one element.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// Returns the argument "dim" counted from the front; 0 for a tensor of rank 0.
size_t axis_argument(const OpArguments& args, const TensorType& self);
// Returns the size of the axis; refuses a flexible size.
int64_t fixed_axis_size(const OpArguments& args, const TensorType& self, size_t axis);
// Return the sizes with another size for the axis; with size 1 (if keeps_axis) or without the axis.
Dims with_axis(const TensorType& self, size_t axis, const Dim& size);
Dims without_axis(const TensorType& self, size_t axis, bool keeps_axis);

// Reshapes to [before, size, behind].
Expression around_axis(const Expression& x, size_t axis);
// Moves the axis to the end and reshapes to [before * behind, size].
Expression as_rows(const Expression& x, size_t axis);
// Turns [before * behind, count] into a tensor with the sizes of `type`, but `count` along the axis.
Expression from_rows(const Expression& rows, const TensorType& type, size_t axis);
// Slices the elements from `begin` to before `end` along an axis.
Expression part(const Expression& x, size_t axis, const Dim& begin, const Dim& end);
// Returns the constant 0, 1, 2... along the last of `rank` axes.
Expression positions(OpContext& ctx, int64_t size, size_t rank);
// Refuses a lowering that would compare too many pairs of elements.
void require_few_pairs(const OpArguments& args, const Dim& pairs);

}  // namespace nnapi_convert
