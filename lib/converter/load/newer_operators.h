// SPDX-License-Identifier: BSD-3-Clause
// Handles operators that PyTorch got after 1.13.1. Files with them load once they are declared; what runs on a phone is
// PyTorch 1.13.1, so that they are taken apart into its operators before anything else sees them.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/ops/script_forms.h"

namespace nnapi_convert {

// Declares the newer operators by their schemas, with kernels, for the rest of the process. Those that are known stay
// as they are.
void declare_newer_operators();

// Returns the row of a node's operator; null for operators of 1.13.1.
const ScriptForm* newer_operator(const torch::jit::Node& node);

// Returns the graphs of all methods and functions that the module was saved with.
std::vector<std::shared_ptr<torch::jit::Graph>> saved_graphs(const torch::jit::Module& module);

// Replaces newer operators of the graph by operators of 1.13.1. Those that are refused stay: a branch with one may
// never run.
void take_newer_operators_apart(torch::jit::Graph& graph);
// Replaces them in all methods and functions that the module was saved with. Call it before any of them runs.
void take_newer_operators_apart(const torch::jit::Module& module);

// Returns, for example, "aten::x (PyTorch 2.4), which PyTorch 1.13.1 on the device lacks".
std::string described(const ScriptForm& newer);

}  // namespace nnapi_convert
