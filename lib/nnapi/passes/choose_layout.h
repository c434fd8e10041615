// Chooses each operand's physical order, NCHW or NHWC, and rewrites what depends on it: dims, layout flags, axes,
// per-axis vectors and masks, constants. The one place that knows about layouts: rules build everything in PyTorch's
// order.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// inputs[i].nhwc says which inputs (rank 4) are handed over as NHWC. With any, or with `nhwc`, convolutions and pools
// run in NHWC, and elementwise operations follow their inputs; TRANSPOSE appears only where an operation needs
// PyTorch's order. Subgraphs are part of it: their edges follow what the operation has. Without, the model stays in
// NCHW. Outputs left in NHWC are marked so, for the caller to permute.
void choose_layout(Model& model, bool nhwc = false);

}  // namespace nnapi_convert::nnapi
