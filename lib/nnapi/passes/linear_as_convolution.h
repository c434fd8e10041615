// SPDX-License-Identifier: BSD-3-Clause
// Turns linear layers on the places of an image, with elementwise operations between them, into CONV_2D with filters of
// 1 by 1, where this spares the RESHAPE from the matrix of FULLY_CONNECTED back to the image. Examples are ConvNeXt's
// blocks and Swin's layers. A later quantisation can give these weights a scale for each channel, which FULLY_CONNECTED
// lacks.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Float only. Runs after the layout is chosen: the images are in NHWC.
void linear_as_convolution(Model& model);

}  // namespace nnapi_convert::nnapi
