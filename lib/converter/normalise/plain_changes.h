// Changes in place that nothing but their own result sees, as the graph alone tells, made functional before freezing.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Freezing keeps every weight apart that a change may reach by way of a list: one change of a mask in a model that puts
// its weights in a list is enough. What an operator has just made, and nothing else has a view of, is no weight:
// relu_(linear(x)) becomes relu(linear(x)). So do changes of the parts of unsafe_chunk, unsafe_split and
// unsafe_split_with_sizes, which don't overlap, where nothing else reads what they are cut from; these become chunk,
// split and split_with_sizes.
void remove_plain_changes(torch::jit::Graph& graph);

// Operators whose result is new memory in any case. Schemas don't tell: dropout gives its input itself in evaluation
// mode, einsum may give a view.
bool makes_new_tensor(const torch::jit::Node& node);

}  // namespace nnapi_convert
