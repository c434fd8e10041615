// SPDX-License-Identifier: BSD-3-Clause
// Folds a MUL or ADD by a constant per channel (the lowered form of batch norm), and a SUB from a constant, into the
// weights and bias of the preceding convolution or FULLY_CONNECTED, if nothing else reads its result. Float only. Works
// in PyTorch's order, before the layout is chosen.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_affine(Model& model);

}  // namespace nnapi_convert::nnapi
