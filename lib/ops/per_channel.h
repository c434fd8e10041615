// SPDX-License-Identifier: BSD-3-Clause
// Splits the per-channel weights of convolutions into a few tensors with one scale each, as PyTorch's own loader can't
// carry a scale for each channel.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The weights and biases of some channels; those of channels that are in other parts are zero.
struct WeightPart {
  at::Tensor weight;
  c10::optional<at::Tensor> bias;
};

// Returns one unchanged part if one scale is good enough for all channels, or if `weight` is quantised per tensor. Else
// groups the channels by scale into at most four parts, and gives a warning with the error.
std::vector<WeightPart> parts_by_scale(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                       const TensorType& input);

}  // namespace nnapi_convert
