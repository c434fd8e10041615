// SPDX-License-Identifier: BSD-3-Clause
// Moves RESHAPEs and TRANSPOSEs (moves) from in front of regions of elementwise operations to behind them. In a region
// several operations read one tensor, as in SiLU and GELU; sink_moves sinks moves that one operation reads.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Changes a region only if fewer moves are left, as where a move behind the region is the inverse of the one before it.
// Returns whether it changed one. Moves that nothing reads any more are left for merge_moves.
bool sink_regions(Model& model);

}  // namespace nnapi_convert::nnapi
