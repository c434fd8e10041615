// Makes models in float16, bfloat16 or float64 compute in float32. Casts keep the dtypes of the inputs and results.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/options/options.h"

namespace nnapi_convert {

// Returns the floating-point dtype of the module's parameters and buffers with more than one element: the first that is
// not float32. Returns nothing if one of them is float32.
std::optional<at::ScalarType> float_width(const torch::jit::Module& module);

// Turns constants, and casts to `width`, into float32; casts floating-point inputs to float32, and results back to
// their original dtype. The graph's attributes have to be constants.
void compute_in_float32(const std::shared_ptr<torch::jit::Graph>& graph, at::ScalarType width);

void warn_of_float_width(const torch::jit::Module& module, Diagnostics& diagnostics);

// Sets the dtype of each spec without one to `width`.
void set_default_width(std::vector<InputSpec>& specs, at::ScalarType width);

}  // namespace nnapi_convert
