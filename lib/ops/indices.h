// Handles indices that are computed at run time. In some operators PyTorch counts indices below 0 from the end (x[i],
// select); in others it raises an error (gather, index_select, embedding). NNAPI doesn't define an index outside the
// axis: devices read past the tensor. Constant indices are counted from the front at conversion.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// The note of operators whose computed indices PyTorch checks and NNAPI doesn't.
inline constexpr const char* kUncheckedIndices = "a computed index outside the axis: undefined, where PyTorch raises";

// True for values that are never below 0: a loop's counter, and results of argmax and similar operators.
bool is_never_negative(const TorchValue& index);

// Returns the index counted from the front of an axis of this size.
Expression counted_from_front(const Expression& index, const Dim& size);

}  // namespace nnapi_convert
