// Makes the float32 model that NNAPI computes in place of a model that rounds its intermediate values.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "lib/converter/load/load.h"

namespace nnapi_convert {

// For a dynamically quantised model, and for a model in float16, bfloat16 or float64, returns its module with float32
// weights and activations; inputs and results keep their dtypes. Returns nothing for other models. Throws ConvertError
// (kNotConvertible) for a module that can't be frozen.
std::optional<torch::jit::Module> float_meaning(const LoadedModel& original);

}  // namespace nnapi_convert
