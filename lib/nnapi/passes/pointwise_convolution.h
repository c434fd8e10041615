// SPDX-License-Identifier: BSD-3-Clause
// Makes the arguments of a CONV_2D that works on each place of an image by itself, as a linear layer does on each row.
#pragma once

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {

// The input is in NHWC: without the flag of feature level 3 there is no other order. The filter has the shape
// [outputs, 1, 1, inputs], `activation` is an operand with a FuseCode.
std::vector<OperandId> pointwise_arguments(Builder& builder, OperandId input, OperandId filter, OperandId bias,
                                           OperandId activation);

}  // namespace nnapi_convert::nnapi
