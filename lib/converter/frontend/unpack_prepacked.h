// SPDX-License-Identifier: BSD-3-Clause
// Takes operators with packed weights, which optimize_for_mobile() inserts, apart into operators that have rules.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Replaces XNNPACK's operators (such as prepacked::conv2d_clamp_run) and aten::_add_relu by convolutions, linear
// layers, additions, and clamps for the fused limits; and quantised 3-D convolutions by float ones. A node whose
// parameters are computed stays. The graph's attributes have to be constants.
void unpack_prepacked(torch::jit::Graph& graph);

}  // namespace nnapi_convert
