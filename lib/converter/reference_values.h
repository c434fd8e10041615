// What TorchScript computes on the way from a model's inputs to its outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/normalise.h"

namespace nnapi_convert {

// The tensors of the graph, but for those within branches and loops, by the names of their values, inputs included.
// Each is as it was when it was made, whatever changes it later. Throws c10::Error where the model doesn't run.
std::unordered_map<std::string, at::Tensor> reference_values(const NormalisedModel& model,
                                                             const std::vector<at::Tensor>& inputs);

}  // namespace nnapi_convert
