// SPDX-License-Identifier: BSD-3-Clause
// Removes objects of scripted classes that a graph makes and only uses to read and set their attributes.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Returns the ancestor of `user` in `node`'s block; `user` itself if it is in that block.
torch::jit::Node* at_level_of(const torch::jit::Node& node, torch::jit::Node* user);

// Removes objects whose attributes are set once, before they are read, in the block and in the blocks in it. True if
// there were any. It never destroys the node that the caller is visiting.
bool take_objects_apart(torch::jit::Block* block);

}  // namespace nnapi_convert
