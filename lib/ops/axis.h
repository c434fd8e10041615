// Tensors seen from one of their axes: what is before it, along it and behind it. A tensor of rank 0 is one of rank 1
// with one element.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// The argument "dim" counted from the front; 0 of a tensor of rank 0.
size_t axis_argument(const OpArguments& args, const TensorType& self);
// The size of the axis; refuses one that is flexible.
int64_t fixed_axis_size(const OpArguments& args, const TensorType& self, size_t axis);
// The sizes with another one, or none, in the place of the axis.
Dims with_axis(const TensorType& self, size_t axis, const Dim& size);
Dims without_axis(const TensorType& self, size_t axis, bool keeps_axis);

// [before, size, behind].
Expression around_axis(const Expression& x, size_t axis);
// [before * behind, size].
Expression as_rows(const Expression& x, size_t axis);
// A tensor [before * behind, count] as one that has `count` along the axis of `type`.
Expression from_rows(const Expression& rows, const TensorType& type, size_t axis);
// The elements from `begin` to before `end` along an axis.
Expression part(const Expression& x, size_t axis, const Dim& begin, const Dim& end);
// 0, 1, 2... along the last of `rank` axes.
Expression positions(OpContext& ctx, int64_t size, size_t rank);
// Refuses more pairs of elements to compare than is sane.
void require_few_pairs(const OpArguments& args, const Dim& pairs);

}  // namespace nnapi_convert
