// SPDX-License-Identifier: BSD-3-Clause
// Handles newer operators that can't be taken apart (newer_operators.h). In a branch that never runs they do no harm:
// every script that calls F.interpolate of PyTorch 2.12 has one.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Throws ConvertError (kNotConvertible) for such an operator if each run of the graph reaches it.
void check_newer_operators(const torch::jit::Graph& graph);

// Replaces such operators of the graph by an error: PyTorch 1.13.1 doesn't load a file that names them.
void raise_for_newer_operators(torch::jit::Graph& graph);
// Replaces them in all methods and functions that the module was saved with.
void raise_for_newer_operators(const torch::jit::Module& module);

}  // namespace nnapi_convert
