// SPDX-License-Identifier: BSD-3-Clause
// Finds in-place changes of tensors that lists, tuples and dicts hold, and keeps them from being removed as dead code.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// True if a node that reads this tensor, a view of it, or a container that holds one of them, may change the tensor in
// place. Nodes with blocks, and others without a schema, count as ones that may; what the graph returns is only read.
bool may_be_written(const torch::jit::Value& tensor);

// Gives each reader of an unchanged container its own copy of the container, made right before the reader. LibTorch's
// elimination of dead code doesn't see that a container reads its elements: between a container and its reader, it
// removes in-place changes of the elements as dead.
void separate_glue(torch::jit::Graph& graph);

}  // namespace nnapi_convert
