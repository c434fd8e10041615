// SPDX-License-Identifier: BSD-3-Clause
// CONV_2D, GROUPED_CONV_2D and DEPTHWISE_CONV_2D.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/exact_convolution.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

bool is_depthwise(const OpContext& context) {
  return context.code() == OperationCode::DEPTHWISE_CONV_2D;
}

struct Convolution {
  Image image;
  Window window;
  int64_t groups = 1, output_channels = 0;
  FuseCode activation = FuseCode::NONE;

  Image output() const { return {image.nchw, image.batch, output_channels, window.height.output, window.width.output}; }
};

Convolution convolution_of(const OpContext& context) {
  Convolution result;
  result.image = image_of(context, "input");
  const Dims& filter = context.dims("filter");
  result.window = window_of(context, result.image, filter[1], filter[2]);
  result.output_channels = is_depthwise(context) ? filter[3] : filter[0];
  if (is_depthwise(context)) result.groups = result.image.channels;
  if (context.code() == OperationCode::GROUPED_CONV_2D) result.groups = positive(context, "groups");
  result.activation = activation_of(context);
  return result;
}

// Rearranges NNAPI's filter to ATen's order, output channels first; for NHWC images it is channels-last in memory.
at::Tensor arrange_filter(const OpContext& context, const at::Tensor& filter, bool nchw) {
  const at::Tensor arranged =
      filter.permute(is_depthwise(context) ? at::IntArrayRef{3, 0, 1, 2} : at::IntArrayRef{0, 3, 1, 2});
  return arranged.contiguous(nchw ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast);
}

// Returns whether padding both ends by the head's padding gives the same output extent: ATen pads both ends alike.
bool pads_alike(const Span& span, int64_t input) {
  const int64_t reach = (span.filter - 1) * span.dilation + 1;
  return input + 2 * span.head >= reach && (input + 2 * span.head - reach) / span.stride + 1 == span.output;
}

at::Tensor convolve_as(const Convolution& how, at::Tensor input, const at::Tensor& filter, const at::Tensor& bias) {
  const Span& height = how.window.height;
  const Span& width = how.window.width;
  ConvolutionSteps steps;
  steps.stride = {height.stride, width.stride};
  steps.padding = {height.head, width.head};
  steps.dilation = {height.dilation, width.dilation};
  steps.groups = how.groups;
  if (!pads_alike(height, how.image.height) || !pads_alike(width, how.image.width)) {
    input = at::constant_pad_nd(input, {width.head, width.tail, height.head, height.tail});
    steps.padding = {0, 0};
  }
  return convolve(input, filter, bias, steps);
}

void convolve_floats(OpContext& context, const Convolution& how) {
  const at::Tensor filter = context.cached(
      "filter", "weights", [&] { return arrange_filter(context, context.real("filter"), how.image.nchw); });
  const at::Tensor input = to_nchw(context.real("input"), how.image);
  const at::Tensor output = activate(convolve_as(how, input, filter, context.real("bias")), how.activation);
  context.store(from_nchw(output, how.output()));
}

void convolve_codes(OpContext& context, const Convolution& how) {
  const at::Tensor input = centered(to_nchw(context.stored("input"), how.image), context.operand("input"));
  const at::Tensor sums = exact_sums(
      context, input, 0, [&](const at::Tensor& filter) { return arrange_filter(context, filter, how.image.nchw); },
      [&](const at::Tensor& x, const at::Tensor& filter) { return convolve_as(how, x, filter, {}); });
  const int64_t inner = how.image.nchw ? how.window.height.output * how.window.width.output : 1;
  context.put(requantize(from_nchw(sums, how.output()), context.stored("bias"),
                         multipliers_of(context, "filter", how.output_channels), inner, context.operand("output"),
                         how.activation));
}

}  // namespace

void conv_rule(OpContext& context) {
  check_weighted_quantization(context, "filter");
  check_channel_dimension(context, 0);
  const Convolution how = convolution_of(context);
  const int64_t depth = context.dims("filter")[3];
  if (depth * how.groups != how.image.channels) {
    context.refuse("filter", "depth {} found, {} input channels in {} groups need {}", depth, how.image.channels,
                   how.groups, how.image.channels / how.groups);
  }
  if (how.output_channels % how.groups != 0) {
    context.refuse("filter", "{} output channels found, a multiple of {} groups needed", how.output_channels,
                   how.groups);
  }
  check_bias_extent(context, how.output_channels);
  context.set_output(how.output().dims());
}

void depthwise_conv_rule(OpContext& context) {
  check_weighted_quantization(context, "filter");
  check_channel_dimension(context, 3);
  const int64_t multiplier = positive(context, "depth_multiplier");
  const Convolution how = convolution_of(context);
  const int64_t first = context.dims("filter")[0];
  if (first != 1) context.refuse("filter", "first dimension {} found, 1 needed", first);
  if (how.output_channels != how.image.channels * multiplier) {
    context.refuse("filter", "{} output channels found, {} input channels x multiplier {} needed", how.output_channels,
                   how.image.channels, multiplier);
  }
  check_bias_extent(context, how.output_channels);
  context.set_output(how.output().dims());
}

void conv(OpContext& context) {
  const Convolution how = convolution_of(context);
  if (is_quantized_8bit(context.type("input"))) return convolve_codes(context, how);
  convolve_floats(context, how);
}

void depthwise_conv(OpContext& context) {
  conv(context);
}

}  // namespace nnapi_convert::host
