// SPDX-License-Identifier: BSD-3-Clause
// Counts sizes that depend on values in runs on sample inputs.
#pragma once

#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

// Runs the graph on the samples and sets the estimates of `inferred.runtime_sizes` to the largest sizes found. Sizes
// that no tensor has, or that are 0, keep their estimates; all do if the graph doesn't run on this machine.
void count_in_samples(const NormalisedModel& model, const std::vector<InputTuple>& samples, InferredTypes& inferred);

}  // namespace nnapi_convert
