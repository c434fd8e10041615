// Brings operations on tensors of rank 5 and more to rank 4, NNAPI's limit: merges neighbouring axes that the operation
// treats alike, with RESHAPEs around the operation. merge_moves handles RESHAPE and TRANSPOSE of such tensors. An
// operation that needs five separate axes stays as it is, and validate refuses it.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void reduce_rank(Model& model);

}  // namespace nnapi_convert::nnapi
