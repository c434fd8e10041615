// SPDX-License-Identifier: BSD-3-Clause
// Writes TorchScript in the place of an operator.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace nnapi_convert {

// Inserts the body of a function before the node and returns the values that replace the node's outputs. `function` is
// the source of a function `form`, which takes the node's arguments in their order, and returns a tuple for a node of
// several outputs. The new nodes have the node's place in the source.
std::vector<torch::jit::Value*> insert_form(torch::jit::Node& node, const char* function);

}  // namespace nnapi_convert
