// PAD and PAD_V2, for all rules that need a border of one number.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The tensor with so many more elements before and after each axis (`pairs`: two for each), of the number `value`; what
// lies beyond a quantised tensor's numbers becomes its least or its greatest. The tensor itself where all are 0.
LoweredTensor padded(OpContext& ctx, const LoweredTensor& tensor, const Dims& pairs, double value);

}  // namespace nnapi_convert
