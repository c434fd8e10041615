// SPDX-License-Identifier: BSD-3-Clause
// Moves RESHAPEs and TRANSPOSEs that all parts of a SPLIT go through in front of the SPLIT, once for all parts:
// queries, keys and values of attention. If keys are transposed in another order, the flag of the BATCH_MATMUL that
// reads them is turned.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Leaves tensors of four axes that no RESHAPE makes: their layout isn't chosen yet.
void split_after_moves(Model& model);

}  // namespace nnapi_convert::nnapi
