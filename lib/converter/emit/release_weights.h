// SPDX-License-Identifier: BSD-3-Clause
// Releases weights that only NNAPI needs, so that they are freed one by one as segments are written.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/converter/plan/partition.h"

namespace nnapi_convert {

// Lets only the plan's NNAPI models hold the weights of segments. build_partitioned_module() can still use the graph
// and the plan afterwards; the original module and the graphs of segments are gone.
void release_weights(NormalisedModel& model, Plan& plan);

}  // namespace nnapi_convert
