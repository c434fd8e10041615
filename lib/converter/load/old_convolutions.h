// SPDX-License-Identifier: BSD-3-Clause
// Quantised convolutions as PyTorch 1.5 and older wrote them.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// Takes the arguments stride, padding, dilation and groups from the calls in all methods, as torch::jit::load does:
// quantized::conv2d and similar operators once took them beside the packed weights, which hold them, too.
void drop_repeated_arguments(const torch::jit::Module& module);

}  // namespace nnapi_convert
