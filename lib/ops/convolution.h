// SPDX-License-Identifier: BSD-3-Clause
// Shared by float and quantised convolutions: reads the arguments, computes the result's sizes, and appends the NNAPI
// operations. All are lowered as 2-D convolutions: 1-D ones have height 1, 3-D ones are sums of 2-D ones.
#pragma once

#include <functional>

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

// A 2-D convolution as PyTorch describes it, height before width.
struct Convolution {
  std::vector<int64_t> stride, padding, padding_end, dilation;
  std::vector<int64_t> output_padding = {0, 0};
  int64_t groups = 1;
  bool transposed = false;
  std::vector<int64_t> weight_sizes;  // O, I/groups, H, W; transposed: I, O/groups, H, W

  int64_t kernel(size_t i) const { return weight_sizes[2 + i]; }
  int64_t output_channels() const { return transposed ? weight_sizes[1] * groups : weight_sizes[0]; }
  int64_t input_channels() const { return transposed ? weight_sizes[0] : weight_sizes[1] * groups; }
  bool is_dilated() const { return dilation[0] != 1 || dilation[1] != 1; }
  bool is_depthwise() const { return groups > 1 && groups == input_channels(); }
};

// Returns the sizes of a weight as those of a 2-D convolution; refuses ranks other than 3 and 4.
std::vector<int64_t> weight_sizes_2d(const OpArguments& args, const Dims& sizes);

// Reads the arguments "stride", "padding" (numbers, "same" or "valid"), "dilation", "groups", "output_padding" and
// "transposed" for a weight of `weight_rank` axes.
Convolution read_convolution(const OpArguments& args, const Dims& weight);

// Returns the sizes of the result. It has the input's rank, which may lack the batch axis. `spatial` is the number of
// spatial axes.
Dims convolution_dims(const OpArguments& args, const Convolution& conv, const TensorType& input, size_t spatial);

// The filter, in PyTorch's order, and the bias, for all groups or for one group.
struct ConvolutionWeights {
  LoweredTensor filter;
  nnapi::OperandId bias;
};
// Returns the weights in `parts` equal parts: one for each group, or one for all.
using WeightsInParts = std::function<std::vector<ConvolutionWeights>(int64_t parts)>;

// Appends the operations for a convolution; the result has the node's output type.
LoweredTensor emit_convolution(OpContext& ctx, Convolution conv, const LoweredTensor& input, size_t spatial,
                               const WeightsInParts& weights, FuseCode activation);

// Appends the operations for a convolution of an [N, C, H, W]; the result has the type `type`.
LoweredTensor emit_image_convolution(OpContext& ctx, Convolution conv, const LoweredTensor& image,
                                     const WeightsInParts& weights, const TensorType& type, FuseCode activation);

// Type and lower 3-D convolutions, with a weight of rank 5 (conv_3d.cpp). The shape rule has checked the dtypes.
TensorType volume_convolution_type(const OpArguments& args);
void lower_volume_convolution(OpContext& ctx);

// Returns the weight of a transposed convolution in the form that TRANSPOSE_CONV_2D takes: with zeros for its dilation,
// with zeros after its end if output_padding is larger than padding, and with zeros between groups if this makes it
// only little larger. Changes `conv` to describe the result. Takes float32 and int8.
at::Tensor with_written_zeros(Convolution& conv, const at::Tensor& weight);
// True if with_written_zeros() changes the weight: then the weight has to be a constant.
bool needs_written_zeros(const Convolution& conv);

// Returns the rules of quantized_conv.cpp, which conv_rules() includes.
OpRules quantized_conv_rules();

}  // namespace nnapi_convert
