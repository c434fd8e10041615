// Indices that are computed at run time. PyTorch counts those below 0 from the end where an operator takes them (x[i],
// select), and raises where it doesn't (gather, index_select, embedding); NNAPI says nothing of an index outside the
// axis, and devices read past their tensors. Constant indices are counted from the front when the model is converted.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

// For the notes of operators whose computed indices PyTorch checks and NNAPI doesn't.
inline constexpr const char* kUncheckedIndices = "a computed index outside the axis: undefined, where PyTorch raises";

// True for what is no index below 0, whatever the input: a loop's counter, and what argmax and its like give.
bool is_never_negative(const TorchValue& index);

// An index of the axis of this size, counted from its front.
Expression counted_from_front(const Expression& index, const Dim& size);

}  // namespace nnapi_convert
