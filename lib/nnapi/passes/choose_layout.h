// SPDX-License-Identifier: BSD-3-Clause
// Chooses each operand's physical order, NCHW or NHWC, and rewrites dims, layout flags, axes, per-axis vectors, masks
// and constants to match. Rules build everything in PyTorch's order. Only group_products appends operations whose flag
// says NHWC: their operands have that order already, and stay.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// inputs[i].nhwc tells whether the caller hands over input i (rank 4) as NHWC. If any input is NHWC, or if `nhwc` is
// true, convolutions and pools run in NHWC, and elementwise operations follow their inputs; the pass adds a TRANSPOSE
// only where an operation needs PyTorch's order. Otherwise the model stays in NCHW. The inputs and outputs of a
// subgraph follow the operation that runs it. An output that stays in NHWC is marked, for the caller to permute.
void choose_layout(Model& model, bool nhwc = false);

}  // namespace nnapi_convert::nnapi
