// SPDX-License-Identifier: BSD-3-Clause
// Functions that torch.vmap runs once for all lanes: the program names its steps, and operators between them see
// tensors without the axes of the lanes.
#pragma once

#include <functional>

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Appends a node that is an operator to the graph.
using AddOperator = std::function<void(torch::jit::Graph&, const ExportNode&, ExportScope&)>;

// Appends a node of torch.vmap. Returns false for nodes that are no steps of torch.vmap and read no tensor inside it.
// `graph_json` has the node. Throws ConvertError (kNotConvertible) for operators without a known form over all lanes.
bool add_vmap_node(torch::jit::Graph& graph, const ExportNode& node, const nlohmann::json& graph_json,
                   ExportScope& scope, const AddOperator& add_operator);

}  // namespace nnapi_convert
