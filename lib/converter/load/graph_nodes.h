// SPDX-License-Identifier: BSD-3-Clause
// Turns the nodes of an exported program's graph into those of a TorchScript graph of 1.13.1, with source lines.
#pragma once

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Appends the nodes of `graph_json` at the insert point. Throws ConvertError: kBadFile for what is not read,
// kNotConvertible for operators that PyTorch 1.13.1 lacks.
void add_nodes(torch::jit::Graph& graph, const nlohmann::json& graph_json, ExportScope& scope);

}  // namespace nnapi_convert
