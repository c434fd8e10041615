// Operators with packed weights, which optimize_for_mobile() puts in, taken apart into plain ones that have rules.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces XNNPACK's operators (prepacked::conv2d_clamp_run and its like) and aten::_add_relu by convolutions, linear
// layers, additions and the limits that are fused into them. A node whose parameters are computed stays. The graph's
// attributes have to be constants.
void unpack_prepacked(torch::jit::Graph& graph);

}  // namespace nnapi_convert
