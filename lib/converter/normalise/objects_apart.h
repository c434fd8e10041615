// Objects of scripted classes that a graph makes and nothing but reads and sets of their attributes uses.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// The node of the block that `node` is of that `user` is, or is in.
torch::jit::Node* at_level_of(const torch::jit::Node& node, torch::jit::Node* user);

// In the block and those in it: objects whose attributes are set once, before they are read, aren't made. True if there
// were any. A node that is destroyed here is never the one that a caller stands at.
bool take_objects_apart(torch::jit::Block* block);

}  // namespace nnapi_convert
