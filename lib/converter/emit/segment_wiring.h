// Says how the segments of a plan are wired, for the shim without PyTorch.
#pragma once

#include <optional>

#include "lib/converter/partition/planned_model.h"
#include "lib/serialize/shim_index.h"

namespace nnapi_convert {

// Returns nothing where segments are not all: the CPU runs a step, a segment runs rows, tensors change their dtype or
// form between segments or at forward's edge, forward takes or gives other values than tensors, or gives one twice.
std::optional<ShimWiring> wiring_of(const PlannedModel& planned);

}  // namespace nnapi_convert
