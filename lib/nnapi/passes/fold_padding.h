// Zeros that a PAD puts around an image before a convolution become the convolution's own padding. Runs before the
// layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_padding(Model& model);

}  // namespace nnapi_convert::nnapi
