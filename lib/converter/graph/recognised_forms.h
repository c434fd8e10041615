// SPDX-License-Identifier: BSD-3-Clause
// Rewrites the operators that patterns (lib/ops/patterns.h) put into graphs: PyTorch has none of them.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces each operator that a pattern put in by TorchScript that computes the same.
void use_recognised_forms(torch::jit::Graph& graph);

}  // namespace nnapi_convert
