// Moves RESHAPE and TRANSPOSE below elementwise operations and softmax along the last axis, where activations and
// affine constants then meet the operation that they fold into, and moves meet others that they merge with
// (merge_moves.h runs here too).
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void sink_moves(Model& model);

}  // namespace nnapi_convert::nnapi
