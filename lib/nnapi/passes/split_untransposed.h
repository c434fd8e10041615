// SPDX-License-Identifier: BSD-3-Clause
// Drops TRANSPOSEs around attention heads. The heads are parts of the last axis of a matrix [rows, heads * features].
// The pass turns a split after a TRANSPOSE to [heads, rows, features], and a join before a TRANSPOSE back, into a split
// or join along the matrix's last axis.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Runs after merge_moves, and leaves RESHAPEs for merge_moves to merge.
void split_untransposed(Model& model);

}  // namespace nnapi_convert::nnapi
