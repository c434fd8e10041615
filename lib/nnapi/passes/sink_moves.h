// SPDX-License-Identifier: BSD-3-Clause
// Moves RESHAPE and TRANSPOSE (moves) below elementwise operations and below softmax along the last axis. Then
// activations and affine constants follow the operation that they fold into, and moves follow moves that they merge
// with; the pass runs merge_moves, too.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void sink_moves(Model& model);

}  // namespace nnapi_convert::nnapi
