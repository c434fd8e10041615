// SPDX-License-Identifier: BSD-3-Clause
// Finds inputs whose values decide sizes or branches: lengths, counts, positions.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Returns the names of the small inputs of integers or bools from which the graph reads a number, directly or behind
// operators on integers.
std::vector<std::string> deciding_inputs(const NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
