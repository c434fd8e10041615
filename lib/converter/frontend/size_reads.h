// SPDX-License-Identifier: BSD-3-Clause
// Reads sizes where they cost nothing.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Reads a tensor's sizes from the result of its only other reader, if that is an operator on it alone whose result has
// the same sizes: a segment needn't hand over a tensor whose elements nobody reads.
void read_sizes_of_results(torch::jit::Graph& graph, const TypeMap& types);

}  // namespace nnapi_convert
