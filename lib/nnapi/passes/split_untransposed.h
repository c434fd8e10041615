// Heads of attention are axes of a matrix: [rows, heads * features]. Splitting them off after a TRANSPOSE to [heads,
// rows, features], or joining them before one back, is splitting or joining along the matrix's last axis without it.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Runs after merge_moves, and leaves RESHAPEs for it to merge.
void split_untransposed(Model& model);

}  // namespace nnapi_convert::nnapi
