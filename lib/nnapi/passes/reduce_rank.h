// SPDX-License-Identifier: BSD-3-Clause
// Brings operations on tensors of rank 5 and more to rank 4, NNAPI's limit: merges neighbouring axes that the operation
// treats alike, with RESHAPEs around the operation. An operation that needs five separate axes is divided before
// (divide_by_axes.h); one that can't be divided stays as it is. merge_moves handles RESHAPE and TRANSPOSE of such
// tensors, reshape_as_floats those RESHAPEs that NNAPI has for float32 only.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void reduce_rank(Model& model);

}  // namespace nnapi_convert::nnapi
