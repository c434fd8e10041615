// SPDX-License-Identifier: BSD-3-Clause
// Nodes of quantised programs (PT2E): operators that round tensors to integers, and that turn these back to floats.
#pragma once

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Appends the node as quantised tensors of PyTorch 1.13.1 where it rounds to 8 bits, and as arithmetic elsewhere.
// Rounding with a scale that each call computes anew is left out. Returns false for other nodes.
bool add_quantised_node(torch::jit::Graph& graph, const ExportNode& node, ExportScope& scope);

}  // namespace nnapi_convert
