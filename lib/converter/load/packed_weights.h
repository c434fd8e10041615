// SPDX-License-Identifier: BSD-3-Clause
// What can be told of a quantised model's packed weights without converting it.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// True if a convolution or linear layer has weights with a scale for each output channel.
bool has_per_channel_weights(const torch::jit::Module& module);

}  // namespace nnapi_convert
