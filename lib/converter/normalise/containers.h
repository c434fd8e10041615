// Takes apart lists and dicts whose elements are known: what is read from them becomes the element itself.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Where a list or dict is filled before anything else reads it, it is made at once; lengths, keys, elements and
// membership are known of one that nothing changes. Loops over one are unrolled, and branches on what is known then are
// chosen. Effects stay. True if the graph changed.
bool simplify_containers(std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
