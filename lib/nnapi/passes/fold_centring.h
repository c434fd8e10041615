// SPDX-License-Identifier: BSD-3-Clause
// Folds the subtraction of a mean along channels, the first step of a layer norm, into the layers that make the tensor:
// their weights and biases lose their means along the output channels, and so do constants that are added. A sum that
// only layer norms read, as the residual stream of a transformer, needs no MEAN and no SUB then.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Float only. Leaves a tensor as it is if anything but such layer norms reads it, or a sum with it, and would lose its
// mean.
void fold_centring(Model& model);

}  // namespace nnapi_convert::nnapi
