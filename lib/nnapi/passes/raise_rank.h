// SPDX-License-Identifier: BSD-3-Clause
// Lets the operations between 1-D convolutions work on pictures of one row, so that the layout of pictures applies to
// them, too.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// A 1-D convolution is a CONV_2D of [N, C, 1, L] between two RESHAPEs from and to [N, C, L]. Elementwise operations and
// those along axes that read such an [N, C, L] read [N, C, 1, L] instead, without the RESHAPEs, and without the
// TRANSPOSEs that choose_layout would need for NHWC, which [N, C, L] doesn't have. Runs before choose_layout.
void raise_rank(Model& model);

}  // namespace nnapi_convert::nnapi
