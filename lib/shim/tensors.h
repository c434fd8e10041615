// Describes the inputs and outputs of a bound model for callers.
#pragma once

#include <vector>

#include "lib/shim/failure.h"
#include "lib/shim/model_view.h"

namespace nnapi_shim {

// Describes the main model's inputs or outputs. NNAPI_SHIM_BAD_MODEL if one is no tensor or larger than memory.
int describe_tensors(const SubgraphView& main, const std::vector<BoundaryView>& boundary,
                     std::vector<nnapi_shim_tensor>* tensors, nnapi_shim_error* error);

}  // namespace nnapi_shim
