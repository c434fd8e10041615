// SPDX-License-Identifier: BSD-3-Clause
// Divides an operation on tensors of high rank into several with the same result that each need fewer separate axes:
// a SLICE along six axes becomes two along three, and reduce_rank merges the axes that each leaves alone.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns the operations in their order, and adds their operands to the model; empty for an operation that can't be
// divided. Repetitions, slices, paddings and reductions work along half of their axes first; operands that are
// broadcast become as large as the result; the indices of a GATHER become a vector.
std::vector<Operation> divided_by_axes(Model& model, const Operation& operation);

}  // namespace nnapi_convert::nnapi
