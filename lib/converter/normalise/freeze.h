// A module with its attributes frozen to constants, all calls inlined, loops of a known number of rounds unrolled, and
// operators with packed weights made plain ones; what is quantised dynamically, or of another
// floating-point dtype, is computed in float32.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "lib/converter/load/load.h"

namespace nnapi_convert {

// Frozen once for each model: `loaded` keeps the result, which nothing may change. Throws ConvertError
// (kNotConvertible) for a module that can't be frozen.
torch::jit::Module frozen_module(const LoadedModel& loaded);

}  // namespace nnapi_convert
