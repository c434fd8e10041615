// SPDX-License-Identifier: BSD-3-Clause
// Freezes a module: makes its attributes constants, inlines all calls, unrolls loops with a known number of rounds, and
// replaces operators with packed weights by plain ones. Dynamically quantised models, and models in another
// floating-point dtype, compute in float32 afterwards.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/float_products.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct FrozenModule {
  torch::jit::Module module;
  std::vector<at::ScalarType> reduced_steps = {};  // dtypes other than float32 of a float32 model's steps
  std::vector<Warning> warnings = {};              // of changes that the frozen module no longer makes
};

// Throws ConvertError (kNotConvertible) for a module that can't be frozen.
FrozenModule frozen_module(const LoadedModel& loaded);

// NNAPI computes another model than the original where the original rounds its intermediate values. For a dynamically
// quantised model, and for a model in float16, bfloat16 or float64, returns its module with float32 weights and
// activations; inputs and results keep their dtypes. Returns nothing for other models. Throws as frozen_module() does.
std::optional<torch::jit::Module> float_meaning(const LoadedModel& original);

// Returns the module of a quantised model with its products, or some of them, as they are defined (float_products.h);
// nothing if it has no such. Throws as frozen_module() does.
std::optional<torch::jit::Module> with_float_products(const LoadedModel& original, Products which);

}  // namespace nnapi_convert
