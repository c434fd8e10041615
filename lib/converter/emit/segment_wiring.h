// SPDX-License-Identifier: BSD-3-Clause
// Says how the segments of a plan are wired, for the shim without PyTorch.
#pragma once

#include <optional>

#include "lib/converter/plan/planned_model.h"
#include "lib/serialize/shim_index.h"

namespace nnapi_convert {

// Returns nothing where NNAPI's segments are not all of the model: the CPU runs a step, a segment runs rows, a tensor
// is read in another form than it is made in, forward checks conditions on sizes, or it takes or gives anything but
// tensors that segments read or make, each once.
std::optional<ShimWiring> wiring_of(const PlannedModel& planned);

}  // namespace nnapi_convert
