// SPDX-License-Identifier: BSD-3-Clause
// Merges chains of RESHAPE and TRANSPOSE into the fewest operations that give the same result, and drops operations
// that change nothing. FULLY_CONNECTED takes the elements of its input in their order, so it reads the input of a
// RESHAPE before it. The pass does not depend on layouts: it may run before and after the layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void merge_moves(Model& model);

}  // namespace nnapi_convert::nnapi
