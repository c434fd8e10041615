// SPDX-License-Identifier: BSD-3-Clause
// Reads from a quantised model's packed weights what can be told without converting it.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// True if a convolution or linear layer has weights with a scale for each output channel.
bool has_per_channel_weights(const torch::jit::Module& module);

}  // namespace nnapi_convert
