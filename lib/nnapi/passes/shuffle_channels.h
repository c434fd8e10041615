// Channels in another order: RESHAPE, TRANSPOSE and RESHAPE that exchange two parts of an axis become CHANNEL_SHUFFLE,
// a CHANNEL_SHUFFLE folds into the constant weights of the convolution before or after it, and below feature level 3
// one that is left is written out again. Runs before the layout is chosen, after activations have been fused.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void shuffle_channels(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
