// SPDX-License-Identifier: BSD-3-Clause
// Turns FULLY_CONNECTED operations that multiply two batches of matrices, one pair of matrices each, into one
// GROUPED_CONV_2D with a group for each pair: attention's heads at feature levels without BATCH_MATMUL. Android's tests
// of GROUPED_CONV_2D have computed filters, too (grouped_conv2d_*_all_inputs_as_internal).
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// The GROUPED_CONV_2D is in NHWC, and its filter is computed. Changes nothing below feature level 3, which has
// GROUPED_CONV_2D first.
void group_products(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
