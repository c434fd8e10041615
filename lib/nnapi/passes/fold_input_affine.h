// SPDX-License-Identifier: BSD-3-Clause
// Folds MULs and ADDs by a constant per channel, such as the normalisation of a picture, into the weights and bias of
// the CONV_2D or FULLY_CONNECTED that reads their result, if nothing else reads it; also into several FULLY_CONNECTEDs,
// if nothing else reads it. Float only. Works in PyTorch's order, before the layout is chosen.
//
// A convolution pads its input with zeros after the ADDs. With padding, one ADD before the convolution stays, and the
// MULs alone go into the weights, so that results at the borders are the same.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void fold_input_affine(Model& model);

}  // namespace nnapi_convert::nnapi
