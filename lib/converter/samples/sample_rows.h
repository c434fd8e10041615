// Counts sizes that depend on values in runs on sample inputs.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/infer.h"
#include "lib/converter/samples/sample_inputs.h"

namespace nnapi_convert {

// Makes the estimates of `inferred.runtime_sizes` the largest numbers that runs of the graph on the samples have. Sizes
// that no tensor shows or that are 0 stay as they are, and all of them where the graph doesn't run here.
void count_in_samples(const NormalisedModel& model, const std::vector<InputTuple>& samples, InferredTypes& inferred);

}  // namespace nnapi_convert
