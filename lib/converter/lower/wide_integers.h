// int64 tensors on NNAPI, which has 32 bits for them.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Warns once, naming all inputs of the model and other values whose numbers NNAPI may cut to 32 bits: int64 tensors
// that `nodes`, all that NNAPI runs, read or make, and whose numbers aren't known to be smaller.
void warn_of_wide_integers(const std::vector<const TorchNode*>& nodes, const NormalisedModel& model,
                           const TypeMap& types, Diagnostics& diagnostics);

// The nodes of a graph and of the blocks in it.
std::vector<const TorchNode*> all_nodes(const torch::jit::Graph& graph);

}  // namespace nnapi_convert
