// SPDX-License-Identifier: BSD-3-Clause
// Reshapes bool tensors, and integers where the feature level has no RESHAPE of them, as float32. Rules do so by
// themselves; this is for RESHAPEs that passes add and for those at the model's inputs and outputs.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Below feature level 4, leaves a RESHAPE of integers that float32 may not hold, and validate refuses it: the
// arithmetic that splits such integers needs level 4.
void reshape_as_floats(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
