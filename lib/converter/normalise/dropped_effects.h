// What a model that NNAPI runs whole no longer does.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Warns of errors that the graph raises depending on the values of tensors, and of what it prints. Errors that depend
// on sizes and types are found at conversion, or can't happen for the sizes that were converted.
void warn_of_dropped_effects(torch::jit::Graph& graph, Diagnostics& diagnostics);

}  // namespace nnapi_convert
