// SPDX-License-Identifier: BSD-3-Clause
// Makes in-place operations functional: relu_(x) becomes relu(x), and later readers of x read the result.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <vector>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// An operation on a tensor stays in place if a later node reads another view of the tensor; it has no rule, so that it
// is refused later. Warns if forward changes its own input. Returns the inputs of the graph whose changes are removed
// on the condition that no other input shares their memory.
std::vector<torch::jit::Value*> remove_inplace(const std::shared_ptr<torch::jit::Graph>& graph,
                                               Diagnostics& diagnostics);

}  // namespace nnapi_convert
