// Replaces operators by a few lines of TorchScript with other operators.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace nnapi_convert {

// Inserts operators before the node and returns the values that replace its outputs; empty for a node that has no such
// form. The new nodes read the node's arguments; arguments that the form doesn't read are dropped.
std::vector<torch::jit::Value*> plain_form(torch::jit::Node& node);

}  // namespace nnapi_convert
