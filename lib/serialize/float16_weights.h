// SPDX-License-Identifier: BSD-3-Clause
// Stores weights of float32 operands in half their size. The module or the shim turns them into float32 at load, so
// that NNAPI sees float32 weights at every feature level.
#pragma once

#include <cstddef>

#include "lib/nnapi/model.h"

namespace nnapi_convert {

struct Float16Weights {
  size_t rounded = 0;  // weights that are stored as float16
  size_t kept = 0;     // weights that stay float32, as their numbers don't fit into float16
};

// Rounds float32 weights of the model and its subgraphs to float16; small weights, which the buffer itself holds, stay.
// An error of rounding is at most 2^-11 of the weight's largest number: a weight stays float32 if it has finite numbers
// beyond 65504, or if its largest number is below 2^-14. Evaluates each weight once to know its numbers.
Float16Weights store_weights_as_float16(nnapi::Model& model);

}  // namespace nnapi_convert
