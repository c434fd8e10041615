// SPDX-License-Identifier: BSD-3-Clause
// Operators that the shim's programs lack, by those that they have.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Writes the operators of the graph and its blocks that have such a form in that form.
void use_program_forms(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
