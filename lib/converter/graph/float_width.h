// Models whose floating-point numbers are float16, bfloat16 or float64: they are computed in float32, between casts
// that keep what callers give and get.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/options/options.h"

namespace nnapi_convert {

// The first dtype other than float32 of a parameter or buffer with more than one element; nothing for a float32 model.
std::optional<at::ScalarType> float_width(const torch::jit::Module& module);

// Makes constants and casts to another width float32, casts inputs of floating-point numbers to it, and results to the
// dtype that they had. The graph's attributes have to be constants.
void compute_in_float32(const std::shared_ptr<torch::jit::Graph>& graph, at::ScalarType width);

void warn_of_float_width(const torch::jit::Module& module, Diagnostics& diagnostics);

// Specs without a dtype have that of the model's floating-point numbers.
void set_default_width(std::vector<InputSpec>& specs, at::ScalarType width);

}  // namespace nnapi_convert
