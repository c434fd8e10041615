// SPDX-License-Identifier: BSD-3-Clause
// Appends PAD and PAD_V2 for all rules that add a border of one number.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the tensor with elements of `value` added before and after each axis; `pairs` has two counts for each axis.
// For a quantised tensor, `value` is limited to the tensor's range. If all counts are 0, returns the tensor itself.
LoweredTensor padded(OpContext& ctx, const LoweredTensor& tensor, const Dims& pairs, double value);

}  // namespace nnapi_convert
