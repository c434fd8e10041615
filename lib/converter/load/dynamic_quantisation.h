// SPDX-License-Identifier: BSD-3-Clause
// Replaces dynamically quantised operators, which round their weights once, and their activations in each call by the
// range found in it. NNAPI has none: they become float operators whose weights are the floats that the rounded ones
// stand for.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// Replaces quantized::linear_dynamic and its like, quantised recurrent layers and cells by their float operators. A
// node whose parameters are computed, or of an older form, stays. The graph's attributes have to be constants.
void remove_dynamic_quantisation(const std::shared_ptr<torch::jit::Graph>& graph);

// True if a method or function that the module was saved with rounds activations in each call.
bool is_dynamically_quantised(const torch::jit::Module& module);

// Says in one warning what such a model is converted to.
void warn_of_dynamic_quantisation(Diagnostics& diagnostics);

}  // namespace nnapi_convert
