// SPDX-License-Identifier: BSD-3-Clause
// Checks filter, bias and scales for all convolutions, and computes exact integer sums with floating-point ATen.
#pragma once

#include <functional>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// Checks the bias, per-channel scales and output scale; `weights` names the filter argument.
void check_weighted_quantization(const OpContext& context, const char* weights);
// Checks that the bias has one entry per output channel.
void check_bias_extent(const OpContext& context, int64_t channels);
// Checks that per-channel scales run along dimension `dim` of the filter.
void check_channel_dimension(const OpContext& context, uint32_t dim);

// Returns input scale x filter scale / output scale for each output channel.
std::vector<double> multipliers_of(const OpContext& context, const char* weights, int64_t channels);

// Convolves integers exactly: in Float if no sum can reach 2^24; else in Float for a few pieces of the input's channels
// (dimension 1), for two halves of each weight, or else in Double. `filter` makes the filter (integers, output channels
// along `channel_dim`, 0 or 1, input channels along the other one) from the stored one; `apply` convolves an input and
// a filter of the same type.
at::Tensor exact_sums(const OpContext& context, const at::Tensor& input, int64_t channel_dim,
                      const std::function<at::Tensor(const at::Tensor&)>& filter,
                      const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& apply);

// The parameters of a 2-D convolution. Float convolutions call oneDNN directly: for 1x1 filters ATen would choose BLAS,
// and an untuned BLAS is many times slower.
struct ConvolutionSteps {
  Dims stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
};
at::Tensor convolve(const at::Tensor& input, const at::Tensor& filter, const at::Tensor& bias,
                    const ConvolutionSteps& steps);

// Returns the codes minus the zero point, as Float.
at::Tensor centered(const at::Tensor& codes, const Operand& operand);

}  // namespace nnapi_convert::host
