// SPDX-License-Identifier: BSD-3-Clause
// Reads sizes where they cost nothing.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Where a tensor's only other reader is an operator on it alone, whose result has the same sizes, the sizes are read
// from that result: a segment needn't hand over a tensor whose elements nobody reads.
void read_sizes_of_results(torch::jit::Graph& graph, const TypeMap& types);

}  // namespace nnapi_convert
