// SPDX-License-Identifier: BSD-3-Clause
// Makes in-place changes functional before freezing, if the graph shows that no node sees the change but through the
// operator's own result.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Freezing doesn't freeze a weight that an in-place change may reach through a list: one change of a mask is enough in
// a model that puts its weights in a list. A tensor that an operator has just made, without other views, is no weight:
// relu_(linear(x)) becomes relu(linear(x)). Changes of the parts of unsafe_chunk, unsafe_split and
// unsafe_split_with_sizes, which don't overlap, become functional, too, if no other node reads the tensor that is cut;
// these operators become chunk, split and split_with_sizes.
void make_changes_functional(torch::jit::Graph& graph);

// True for operators whose result is always new memory. Schemas don't tell this: in evaluation mode dropout returns its
// input itself, and einsum may return a view.
bool makes_new_tensor(const torch::jit::Node& node);

}  // namespace nnapi_convert
