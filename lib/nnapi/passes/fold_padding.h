// SPDX-License-Identifier: BSD-3-Clause
// Turns a PAD with zeros around an image before a convolution into the convolution's own padding. Runs before the
// layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_padding(Model& model);

}  // namespace nnapi_convert::nnapi
