// SPDX-License-Identifier: BSD-3-Clause
// Nodes that compute with sizes: Python's operators and functions of numbers.
#pragma once

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Appends a node that computes with sizes; false for other nodes.
bool add_size_node(torch::jit::Graph& graph, const ExportNode& node, ExportScope& scope);

}  // namespace nnapi_convert
