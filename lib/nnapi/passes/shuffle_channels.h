// SPDX-License-Identifier: BSD-3-Clause
// Turns RESHAPE, TRANSPOSE and RESHAPE that exchange two parts of an axis into a CHANNEL_SHUFFLE, and folds a
// CHANNEL_SHUFFLE into the constant weights of the convolution before or after it. Below feature level 3, writes the
// remaining CHANNEL_SHUFFLEs as RESHAPE, TRANSPOSE and RESHAPE again. Runs before the layout is chosen, after
// activations have been fused.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void shuffle_channels(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
