// SPDX-License-Identifier: BSD-3-Clause
// Models that were saved in training mode.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// Sets a module that is in training mode to evaluation mode. Warns where this changes what it computes, and of
// operators that a trace recorded in training mode, which stay so. Frozen modules and traced functions have no mode.
void leave_training_mode(torch::jit::Module& module, Diagnostics& diagnostics);

}  // namespace nnapi_convert
