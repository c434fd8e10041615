// Per-channel weights of convolutions as few tensors with one scale each: the stock loader can't carry a scale for each
// channel.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Weights that are zero, with a bias of zero, in the channels that another part has.
struct WeightPart {
  at::Tensor weight;
  c10::optional<at::Tensor> bias;
};

// One part, unchanged, where one scale is good enough for all channels or `weight` is per tensor. Otherwise the
// channels are parted by scale, with a warning that tells the error; at most four parts.
std::vector<WeightPart> parts_by_scale(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                       const TensorType& input);

}  // namespace nnapi_convert
