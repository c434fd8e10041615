// Counts multiply-adds whose sizes aren't known in runs on sample inputs.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/partition/partition.h"
#include "lib/converter/samples/sample_inputs.h"

namespace nnapi_convert {

// Gives nodes of the plan on the CPU whose multiply-adds aren't known the largest number that a run of theirs has in
// `reference` (split_reference()) on the samples, as estimates. Nodes that don't run there stay unknown, and all
// of them where the graph prints or doesn't run here.
void count_macs_in_samples(NormalisedModel reference, const std::vector<InputTuple>& samples, Plan& plan);

}  // namespace nnapi_convert
