// Freezes a module: makes its attributes constants, inlines all calls, unrolls loops with a known number of rounds, and
// replaces operators with packed weights by plain ones. Dynamically quantised models, and models in another
// floating-point dtype, compute in float32 afterwards.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "lib/converter/load/load.h"

namespace nnapi_convert {

// Returns the frozen module. `loaded` keeps it for later calls, so callers must not change it. Throws ConvertError
// (kNotConvertible) for a module that can't be frozen.
torch::jit::Module frozen_module(const LoadedModel& loaded);

}  // namespace nnapi_convert
