// SPDX-License-Identifier: BSD-3-Clause
// Adds constants to the bytes of pixels in integers.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Replaces a DEQUANTIZE of quint8, an ADD of a constant and the QUANTIZEs of its sum by an ADD of integers, if the
// constant has integers whose error is at most a quarter of a step of the sum.
void shift_bytes(nnapi::Model& model);

}  // namespace nnapi_convert::quantise
