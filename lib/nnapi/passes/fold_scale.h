// SPDX-License-Identifier: BSD-3-Clause
// Folds a MUL by one number into the weights of the convolutions and FULLY_CONNECTEDs behind it, if the number reaches
// nothing else. The number may pass moves, means, average pools and products with other tensors, and may reach several
// layers: in a squeeze-and-excitation block, the layer of the means and that of the excited channels. Float only. Works
// before activations are fused.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_scale(Model& model);

}  // namespace nnapi_convert::nnapi
