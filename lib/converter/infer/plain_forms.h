// Operators that are others in a few lines of TorchScript.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace nnapi_convert {

// What takes the place of the node's outputs, computed by operators that are inserted before it; empty for a node that
// has no such form. The nodes inserted read the arguments as they are: those that the form doesn't read are dropped.
std::vector<torch::jit::Value*> plain_form(torch::jit::Node& node);

}  // namespace nnapi_convert
