// SPDX-License-Identifier: BSD-3-Clause
// Operators that PyTorch got after 1.13.1. Files with them load once they are declared; what runs on a phone is PyTorch
// 1.13.1, so that they are taken apart into its operators before anything else sees them.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/ops/script_forms.h"

namespace nnapi_convert {

// Makes them known by their schemas, with kernels, for the rest of the process. Those that are known stay as they are.
void declare_newer_operators();

// The row of a node's operator; null for operators of 1.13.1.
const ScriptForm* newer_operator(const torch::jit::Node& node);

// Of all methods and functions that the module was saved with.
std::vector<std::shared_ptr<torch::jit::Graph>> saved_graphs(const torch::jit::Module& module);

// Replaces the newer operators by what they are made of. Those that are refused stay: a branch with one may never run.
void take_newer_operators_apart(torch::jit::Graph& graph);
// The same in all methods and functions that the module was saved with. Call it before any of them runs.
void take_newer_operators_apart(const torch::jit::Module& module);

// "aten::x (PyTorch 2.4), which PyTorch 1.13.1 has not".
std::string described(const ScriptForm& newer);

}  // namespace nnapi_convert
