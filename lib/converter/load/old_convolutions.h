// SPDX-License-Identifier: BSD-3-Clause
// Quantised convolutions as PyTorch 1.5 and older wrote them.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// quantized::conv2d and its kin once took stride, padding, dilation and groups beside the packed weights, which hold
// them too. Takes these arguments from the calls in all methods, as torch::jit::load does.
void drop_repeated_arguments(const torch::jit::Module& module);

}  // namespace nnapi_convert
