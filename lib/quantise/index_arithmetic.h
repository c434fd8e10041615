// SPDX-License-Identifier: BSD-3-Clause
// Finds arithmetic of whole numbers that a model does in floats.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Returns by operation whether its floats are computed only from integers and constants and become integers in the end,
// such as the places of words, which are a cumulated mask. In 8 bits the integers would change, and, as indices, read
// other rows.
std::vector<bool> index_arithmetic(const nnapi::Model& model);

}  // namespace nnapi_convert::quantise
