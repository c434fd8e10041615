// Weights of quantised convolutions and linear layers as NNAPI takes them: quint8 weights, int32 bias.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if the target can carry the weight's scales, one for each channel. PyTorch's own loader can't.
bool keeps_channels(const OpContext& ctx, const at::Tensor& weight);

struct QuantizedWeights {
  LoweredTensor filter;  // in PyTorch's order
  nnapi::OperandId bias;
  bool is_per_channel;
};

// PyTorch's int8 weights are shifted by 128, which is exact. Per-channel weights are kept where keeps_channels says so;
// else they are requantised to one scale for the whole tensor, and the context warns with the largest error. Where the
// bias would not fit into int32 the weights get a larger scale.
QuantizedWeights quantized_weights(OpContext& ctx, const at::Tensor& weight, const c10::optional<at::Tensor>& bias,
                                   int64_t output_channels, const TensorType& input);

// The factors of a product.
struct QuantizedFactors {
  LoweredTensor input;
  at::Tensor weight;
};

// Below feature level 3 NNAPI wants an output scale above the product of input and weight scale. Where it isn't, the
// input is repeated along `axis`, and weights of a smaller scale that add up to the given ones stand side by side along
// their axis 1: the sum is the same.
QuantizedFactors with_small_product(OpContext& ctx, const LoweredTensor& input, const at::Tensor& weight, size_t axis,
                                    double output_scale);

}  // namespace nnapi_convert
