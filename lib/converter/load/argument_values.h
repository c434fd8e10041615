// SPDX-License-Identifier: BSD-3-Clause
// Turns arguments of nodes into values of a graph, of the types that operators of TorchScript take.
#pragma once

#include <ATen/core/function_schema.h>

#include "lib/converter/load/export_node.h"

namespace nnapi_convert {

// Returns `argument` as it is: a constant, a list or a value of the scope.
torch::jit::Value* value_of(torch::jit::Graph& graph, const nlohmann::json& argument, const ExportScope& scope);

// Returns `argument` as an operator's parameter takes it: an integer becomes a float for a float parameter.
torch::jit::Value* value_for(torch::jit::Graph& graph, const nlohmann::json& argument, const c10::Argument& parameter,
                             const ExportScope& scope);

// Returns the value of an output of `graph_json`. A tensor that the graph states to be float16 or bfloat16 is cast:
// inside torch.autocast the operators themselves don't say so.
torch::jit::Value* output_of(torch::jit::Graph& graph, const nlohmann::json& graph_json, const nlohmann::json& output,
                             const ExportScope& scope);

// Returns the values that `graph_json` gives.
TorchValues outputs_of(torch::jit::Graph& graph, const nlohmann::json& graph_json, const ExportScope& scope);

}  // namespace nnapi_convert
