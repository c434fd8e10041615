// SPDX-License-Identifier: BSD-3-Clause
// Reads indices and picks elements by them. For indices computed at run time, some operators of PyTorch count indices
// below 0 from the end (x[i], select); others raise an error (gather, index_select, embedding). NNAPI doesn't define an
// index outside the axis: devices read past the tensor. Constant indices are counted from the front at conversion.
#pragma once

#include <vector>

#include "lib/ops/expression.h"

namespace nnapi_convert {

// The note of operators whose computed indices PyTorch checks and NNAPI doesn't.
inline constexpr const char* kUncheckedIndices = "a computed index outside the axis: undefined, where PyTorch raises";

// An index of one axis, from a list such as that of x[:, i, j]: a constant, or computed at run time.
struct AxisIndex {
  size_t axis;
  const TorchValue* computed;
  at::Tensor constant;
};

// Returns the indices of the argument "indices", a list of tensors and None.
std::vector<AxisIndex> axis_indices(const OpArguments& args);
TensorType type_of(const OpArguments& args, const AxisIndex& index);

// Refuses all but int32 and int64.
void require_indices(const OpArguments& args, const TensorType& indices);
// Returns constant indices of an axis of this size, counted from its front; of a mask, the places of its true elements.
// Refuses indices outside the axis.
at::Tensor checked_indices(const OpArguments& args, const at::Tensor& indices, const Dim& size);

// Returns the result's type of a GATHER: the indices' axes take the place of the axis.
TensorType gathered(const TensorType& self, size_t axis, const Dims& indices);
// Appends a GATHER along the axis.
nnapi::OperandId emit_gather(OpContext& ctx, const LoweredTensor& self, size_t axis, nnapi::OperandId indices,
                             const TensorType& type);

// True for values that are never below 0: a loop's counter, and results of argmax and similar operators.
bool is_never_negative(const TorchValue& index);

// Returns the index counted from the front of an axis of this size.
Expression counted_from_front(const Expression& index, const Dim& size);

}  // namespace nnapi_convert
