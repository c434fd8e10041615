// Changes in place of tensors that lists, tuples and dicts hold.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// True if a tensor may be changed in place by way of a use of this value or of a view of it, or by what it is handed
// to.
bool may_be_written(const torch::jit::Value& tensor);

// Gives each reader of a container that nothing changes a container of its own, made right before it. LibTorch's
// elimination of dead code doesn't see that a container is a reader of its elements: it takes a change in place of one
// for dead that stands between the container and what reads it.
void separate_glue(torch::jit::Graph& graph);

}  // namespace nnapi_convert
