// SPDX-License-Identifier: BSD-3-Clause
// Higher-order operators: branches, loops and parts of a program that run under a setting.
#pragma once

#include <functional>

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Appends the nodes of an inner graph.
using AddNodes = std::function<void(torch::jit::Graph&, const nlohmann::json&, ExportScope&)>;

// Appends a higher-order operator; false for other nodes. Throws ConvertError (kNotConvertible) for higher-order
// operators without a form in TorchScript.
bool add_control_flow(torch::jit::Graph& graph, const ExportNode& node, ExportScope& scope, const AddNodes& add_nodes);

}  // namespace nnapi_convert
