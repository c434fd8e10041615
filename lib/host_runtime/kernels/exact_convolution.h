// What the convolutions share: the rules of filter, bias and scales, and integer sums through floating-point ATen.
#pragma once

#include <functional>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// Rules of bias, per-channel scales and output scale; `weights` names the filter argument.
void check_weighted_quantization(const OpContext& context, const char* weights);
// The bias has one entry per output channel.
void check_bias_extent(const OpContext& context, int64_t channels);
// Per-channel scales run along this dimension of the filter.
void check_channel_dimension(const OpContext& context, uint32_t dim);

// input scale x filter scale / output scale, of each output channel.
std::vector<double> multipliers_of(const OpContext& context, const char* weights, int64_t channels);

// A convolution of whole numbers, exact: in Float where no sum can reach 2^24, else in two Float halves, else in
// Double. `filter` makes the filter (whole numbers, output channels along `channel_dim`) from the stored one; `apply`
// convolves an input and a filter of one and the same type.
at::Tensor exact_sums(const OpContext& context, const at::Tensor& input, int64_t channel_dim,
                      const std::function<at::Tensor(const at::Tensor&)>& filter,
                      const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& apply);

// at::conv2d; Float goes to oneDNN itself, because ATen's own choice is many times slower for 1x1 filters where BLAS
// is.
struct ConvolutionSteps {
  Dims stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
};
at::Tensor convolve(const at::Tensor& input, const at::Tensor& filter, const at::Tensor& bias,
                    const ConvolutionSteps& steps);

// The input's codes less its zero point, as Float.
at::Tensor centered(const at::Tensor& codes, const Operand& operand);

}  // namespace nnapi_convert::host
