// Makes in-place operations functional: relu_(x) becomes relu(x), and what reads x later reads the result.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// An operation on a tensor of which another view is read later stays as it is; there is no rule for it, so that it is
// refused. Warns where forward changes its own input.
void remove_inplace(const std::shared_ptr<torch::jit::Graph>& graph, Diagnostics& diagnostics);

}  // namespace nnapi_convert
