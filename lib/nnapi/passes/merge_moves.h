// Merges chains of RESHAPE and TRANSPOSE into the fewest operations that give the same result, and drops those that
// change nothing. FULLY_CONNECTED, which reads all axes of its input but the last as one, reads through a RESHAPE.
// Takes axes as they are, so that it may run before and after the layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void merge_moves(Model& model);

}  // namespace nnapi_convert::nnapi
