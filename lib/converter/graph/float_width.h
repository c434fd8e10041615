// SPDX-License-Identifier: BSD-3-Clause
// Finds models in float16, bfloat16 or float64. They are converted to float32
// (lib/converter/frontend/compute_in_float32.h).
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// The dtype and the rank that are stated of a tensor among forward's arguments.
struct StatedFloat {
  std::optional<at::ScalarType> dtype;  // Undefined: not a floating-point one; nothing: not stated
  bool has_rank_0 = false;              // it is known to have no axes
};
using StatedFloats = std::map<size_t, StatedFloat>;  // by the number of forward's argument; self is 0

// True for the floating-point dtypes but float32.
bool is_other_width(at::ScalarType dtype);
// True for float16 and bfloat16.
bool is_reduced(at::ScalarType dtype);

// Returns the dtype of the first parameter, else of the first buffer, that has more than one element and is
// floating-point but not float32; a float64 buffer doesn't count. Returns nothing if a parameter of several elements is
// float32.
std::optional<at::ScalarType> float_width(const torch::jit::Module& module);

void warn_of_float_width(at::ScalarType width, Diagnostics& diagnostics);

// Warns of a float32 model with steps in these dtypes; doesn't warn if there are none.
void warn_of_reduced_steps(const std::vector<at::ScalarType>& dtypes, Diagnostics& diagnostics);

// Sets the dtype of each spec without one to `width`.
void set_default_width(std::vector<InputSpec>& specs, at::ScalarType width);

}  // namespace nnapi_convert
