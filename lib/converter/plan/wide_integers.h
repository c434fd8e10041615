// SPDX-License-Identifier: BSD-3-Clause
// Warns of int64 tensors whose numbers may not fit into NNAPI's 32-bit integers.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Gives one warning that names all values whose numbers NNAPI may cut to 32 bits: int64 tensors that `nodes`, the nodes
// that NNAPI runs, read or make, and whose numbers are not known to fit.
void warn_of_wide_integers(const std::vector<const TorchNode*>& nodes, const NormalisedModel& model,
                           const TypeMap& types, Diagnostics& diagnostics);

// Returns the nodes of a graph and of the blocks in it.
std::vector<const TorchNode*> all_nodes(const torch::jit::Graph& graph);

}  // namespace nnapi_convert
