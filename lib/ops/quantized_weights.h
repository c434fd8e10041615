// SPDX-License-Identifier: BSD-3-Clause
// Converts weights of quantised convolutions and linear layers to NNAPI's form: quint8 weights, int32 bias.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if the target can carry the weight's scales, one for each channel. PyTorch's own loader can't.
bool keeps_channels(const OpContext& ctx, const at::Tensor& weight);

// Returns how many channels have a bias beyond int32 in steps of input scale times weight scale; 0 if the weight's
// scales are not those of the bias's channels.
int64_t channels_beyond_int32(const at::Tensor& weight, const at::Tensor& bias, double input_scale);

struct QuantizedWeights {
  LoweredTensor filter;  // in PyTorch's order
  nnapi::OperandId bias;
  bool is_per_channel;
};

// Shifts PyTorch's int8 weights by 128, which is exact. Keeps per-channel weights if keeps_channels() is true; else
// requantises them to one scale for the whole tensor, and warns with the largest error. If the bias would not fit into
// int32, the weights get a larger scale.
QuantizedWeights quantized_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                   int64_t output_channels, const TensorType& input);

// The two operands of a product.
struct QuantizedFactors {
  LoweredTensor input;
  at::Tensor weight;
};

// Below feature level 3, NNAPI needs an output scale above the product of the input's and the weight's scale. If it is
// not, repeats the input along `axis`, and replaces the weight by weights of a smaller scale that add up to it, side by
// side along axis 1: the result of the product is the same.
QuantizedFactors with_small_product(OpContext& ctx, const LoweredTensor& input, const at::Tensor& weight, size_t axis,
                                    double output_scale);

}  // namespace nnapi_convert
