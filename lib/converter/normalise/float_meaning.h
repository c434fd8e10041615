// What a model that rounds on the way stands for in float32: what NNAPI computes of it.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "lib/converter/load/load.h"

namespace nnapi_convert {

// For a model that is quantised dynamically, or whose floating-point numbers are of another dtype: its module with
// weights and activations of float32, and inputs and results of the same dtypes. Nothing for other models,
// which stand for themselves. Throws ConvertError (kNotConvertible) for a module that can't be frozen.
std::optional<torch::jit::Module> float_meaning(const LoadedModel& original);

}  // namespace nnapi_convert
