// Brings operations on tensors of rank 5 and more to rank 4, NNAPI's limit: neighbouring axes that the operation treats
// alike are merged, between RESHAPEs. RESHAPE and TRANSPOSE of such tensors are left to merge_moves. An operation that
// needs five axes apart stays as it is, and validate refuses it.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void reduce_rank(Model& model);

}  // namespace nnapi_convert::nnapi
