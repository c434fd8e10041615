// SPDX-License-Identifier: BSD-3-Clause
// Merges the leading axes of tensors in regions whose operations work along the last axis only, or elementwise: layer
// norms, activations and additions between linear layers. FULLY_CONNECTED gives a matrix of rows, so that the RESHAPEs
// to and from more axes vanish.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Changes a region only if fewer operations are left. Runs merge_moves where it changed one.
void flatten_rows(Model& model);

}  // namespace nnapi_convert::nnapi
