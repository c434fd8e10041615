// What callers are told about a bound model's inputs and outputs.
#pragma once

#include <vector>

#include "lib/shim/failure.h"
#include "lib/shim/model_view.h"

namespace nnapi_shim {

// The tensors at the main model's inputs or outputs. NNAPI_SHIM_BAD_MODEL where one has no size that fits memory.
int describe_tensors(const SubgraphView& main, const std::vector<BoundaryView>& boundary,
                     std::vector<nnapi_shim_tensor>* tensors, nnapi_shim_error* error);

}  // namespace nnapi_shim
