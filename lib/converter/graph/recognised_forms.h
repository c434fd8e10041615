// SPDX-License-Identifier: BSD-3-Clause
// The operators that patterns (lib/ops/patterns.h) put into graphs, for PyTorch, which has none of them.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Writes each as what it was recognised in.
void use_recognised_forms(torch::jit::Graph& graph);

}  // namespace nnapi_convert
