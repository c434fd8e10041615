// Weights of quantised convolutions and linear layers as NNAPI takes them: quint8 weights, int32 bias.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct QuantizedWeights {
  nnapi::Constant weight;  // uint8, in PyTorch's order
  float scale;
  int32_t zero_point;
  nnapi::Constant bias;  // int32, one per output channel, of scale bias_scale
  float bias_scale;      // input scale times weight scale
};

// PyTorch's int8 weights are shifted by 128, which is exact. Per-channel weights are requantised to one scale for the
// whole tensor, and the context warns with the largest error: the stock loader can't carry a scale for each channel.
// Where the bias would not fit into int32 the weights get a larger scale.
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
