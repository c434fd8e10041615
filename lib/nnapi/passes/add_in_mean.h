// SPDX-License-Identifier: BSD-3-Clause
// Turns a MEAN along the last axis and an ADD of a number behind it, as in the variance of a layer norm, into one
// operation with constant weights: FULLY_CONNECTED for a matrix, CONV_2D for an image in NHWC. It takes as many
// multiply-adds as the MEAN takes additions.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Float only. Runs after the layout is chosen: the CONV_2D is in NHWC.
void add_in_mean(Model& model);

}  // namespace nnapi_convert::nnapi
