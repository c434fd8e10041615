// Lets go of weights that only NNAPI needs, so that they are freed one by one as segments are written.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/converter/partition/partition.h"

namespace nnapi_convert {

// Afterwards the NNAPI models of the plan alone hold the weights of segments. The graph and the plan serve
// build_host_module() still; the original module and the graphs of segments are gone.
void release_weights(LoadedModel& loaded, NormalisedModel& model, Plan& plan);

}  // namespace nnapi_convert
