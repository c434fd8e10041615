// SPDX-License-Identifier: BSD-3-Clause
// Moves RELU, RELU1 and RELU6 into the activation argument of the preceding operation, if nothing else reads that
// operation's result.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fuse_activation(Model& model);

}  // namespace nnapi_convert::nnapi
