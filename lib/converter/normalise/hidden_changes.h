// Changes in place that LibTorch's passes don't see: those of a tensor's shape, and those of tensors that an operator
// gives as they are though its schema promises new ones.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Before LibTorch optimises the graph: x.t_() becomes a view where x has no other name, and an operator that gives its
// argument itself becomes one whose schema says so. Throws ConvertError (kNotConvertible) where that can't be and a
// later change would be lost.
void settle_hidden_changes(torch::jit::Graph& graph);

// aten::copy gives its source itself where dtypes and shapes are the same: what is changed in place gets its own
// memory.
void separate_copies(torch::jit::Graph& graph);

}  // namespace nnapi_convert
