// SPDX-License-Identifier: BSD-3-Clause
// Finds operators that tell a tensor's elements, or something of it, by their order in memory, and those that can't.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// True for an operator that reads the order in memory of each tensor it takes, such as as_strided() and stride().
bool reads_memory_order(const torch::jit::Node& node);
// True for an operator that neither reads that order nor gives a result whose order follows from it, such as size() and
// torchvision's roi_align(): it may be handed a tensor in any order.
bool forgets_memory_order(const torch::jit::Node& node);
// True if a node of the graph does read the order.
bool reads_memory_order(const torch::jit::Graph& graph);

}  // namespace nnapi_convert
