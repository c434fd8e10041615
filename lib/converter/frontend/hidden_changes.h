// SPDX-License-Identifier: BSD-3-Clause
// Handles in-place changes that LibTorch's passes don't see: changes of a tensor's shape, changes of a tensor that an
// operator returns unchanged though its schema promises a new tensor, and changes of running statistics in training.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces x.t_() by a view if x has no alias, and an operator that returns its argument by one whose schema says so.
// Call it before LibTorch optimises the graph. Throws ConvertError (kNotConvertible) if that is impossible and a later
// change would be lost.
void settle_hidden_changes(torch::jit::Graph& graph);

// aten::copy returns its source itself if dtypes and shapes are equal. Gives results that are changed in place their
// own memory.
void separate_copies(torch::jit::Graph& graph);

}  // namespace nnapi_convert
