// SPDX-License-Identifier: BSD-3-Clause
// Tells which operations treat every element alike.
#pragma once

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::nnapi {

// Returns whether the operation is elementwise. If it has several inputs, they are broadcast against each other.
bool is_elementwise(OperationCode code);

}  // namespace nnapi_convert::nnapi
