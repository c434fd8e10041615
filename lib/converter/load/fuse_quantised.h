// SPDX-License-Identifier: BSD-3-Clause
// Joins dequantize, a float operator and quantize to the quantised operator that PyTorch has for them.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// `graph` is forward of `module`, whose attributes get the packed weights. What has no quantised operator stays float.
void fuse_quantised(torch::jit::Graph& graph, torch::jit::Module& module);

}  // namespace nnapi_convert
