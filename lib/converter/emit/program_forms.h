// SPDX-License-Identifier: BSD-3-Clause
// Replaces operators that the shim's programs lack by those that they have.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Replaces the operators of the graph and its blocks that programs lack, if they have a form in other operators.
void use_program_forms(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
