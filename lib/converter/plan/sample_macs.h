// SPDX-License-Identifier: BSD-3-Clause
// Counts multiply-adds of CPU nodes with unknown sizes, in runs on sample inputs.
#pragma once

#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/partition.h"

namespace nnapi_convert {

// Runs `reference` (split_reference()) on the samples. Sets the unknown multiply-adds of CPU nodes to the largest
// number in any run of the node, as an estimate. Nodes that don't run stay unknown; all of them stay unknown if the
// graph prints or warns, or doesn't run on this machine.
void count_macs_in_samples(NormalisedModel reference, const std::vector<InputTuple>& samples, Plan& plan);

}  // namespace nnapi_convert
