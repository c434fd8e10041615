// SPDX-License-Identifier: BSD-3-Clause
// Joins dequantize, a float operator and quantize to the quantised operator that PyTorch has for them.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Joins the operators of `graph`, the forward of `module`, whose attributes get the packed weights. An operator without
// a quantised form stays float.
void fuse_quantised(torch::jit::Graph& graph, torch::jit::Module& module);

}  // namespace nnapi_convert
