// SPDX-License-Identifier: BSD-3-Clause
// Gives the positions of the inputs of NNAPI's convolutions: data, filter, bias and, in the form with explicit padding,
// the padding.
#pragma once

#include <cstddef>

#include "lib/format/nnapi_codes.h"
#include "lib/format/operation_table.h"

namespace nnapi_convert::nnapi {

constexpr size_t kFilter = 1;
constexpr size_t kBias = 2;
constexpr size_t kFirstPadding = 3;  // left, right, top, bottom

// Returns whether the operation is a convolution over an image that allows explicit padding.
inline bool is_convolution(OperationCode code) {
  return has_trait(code, OperationTrait::kConvolution) && code != OperationCode::TRANSPOSE_CONV_2D;
}

}  // namespace nnapi_convert::nnapi
