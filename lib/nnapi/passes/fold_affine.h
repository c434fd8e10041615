// Folds constant per-channel MUL and ADD (what batch norm is lowered to), and SUB from a constant, into the weights and
// bias of the convolution or FULLY_CONNECTED before, where that has no other reader. Float only. Works in PyTorch's
// order, before the layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_affine(Model& model);

}  // namespace nnapi_convert::nnapi
