// SPDX-License-Identifier: BSD-3-Clause
// TRANSPOSE_CONV_2D.
#include <algorithm>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/exact_convolution.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

struct TransposeConvolution {
  Image image, output;
  Window window;
};

int64_t full_extent(const Span& span, int64_t input) {
  return (input - 1) * span.stride + span.filter;
}

void pad_to_output(PaddingScheme scheme, int64_t input, Span& span) {
  if (scheme == PaddingScheme::VALID) return;
  const int64_t surplus = std::max<int64_t>(0, full_extent(span, input) - span.output);
  span.head = surplus / 2;
  span.tail = surplus - span.head;
}

void read_output_shape(const OpContext& context, TransposeConvolution& result) {
  const Dims shape = context.integers("output_shape");
  if (shape.size() != 4) context.refuse("output_shape", "{} entries found, 4 needed", shape.size());
  const bool nchw = result.image.nchw;
  const Image found = {nchw, shape[0], shape[nchw ? 1 : 3], shape[nchw ? 2 : 1], shape[nchw ? 3 : 2]};
  if (found.batch != result.image.batch || found.channels != context.dims("filter")[0] || found.height < 1 ||
      found.width < 1) {
    context.refuse("output_shape", "{} found, batch {} and {} channels needed", to_string(shape), result.image.batch,
                   context.dims("filter")[0]);
  }
  result.window.height.output = found.height;
  result.window.width.output = found.width;
}

TransposeConvolution transpose_convolution_of(const OpContext& context) {
  TransposeConvolution result;
  result.image = image_of(context, "input");
  const Dims& filter = context.dims("filter");
  Span& height = result.window.height;
  Span& width = result.window.width;
  height.filter = filter[1];
  width.filter = filter[2];
  height.stride = positive(context, "stride_height");
  width.stride = positive(context, "stride_width");
  if (context.has("padding_scheme")) {
    read_output_shape(context, result);
    const PaddingScheme scheme = padding_scheme_of(context);
    pad_to_output(scheme, result.image.height, height);
    pad_to_output(scheme, result.image.width, width);
  } else {
    read_explicit_padding(context, result.window);
    height.output = full_extent(height, result.image.height) - height.head - height.tail;
    width.output = full_extent(width, result.image.width) - width.head - width.tail;
    if (height.output < 1)
      context.refuse("padding_top", "an output of height {} computed, at least 1 needed", height.output);
    if (width.output < 1)
      context.refuse("padding_left", "an output of width {} computed, at least 1 needed", width.output);
  }
  result.output = {result.image.nchw, result.image.batch, filter[0], height.output, width.output};
  return result;
}

at::Tensor arrange_filter(const at::Tensor& filter) {
  return filter.permute({3, 0, 1, 2}).contiguous();
}

at::Tensor convolve(const TransposeConvolution& how, const at::Tensor& input, const at::Tensor& filter) {
  const Span& height = how.window.height;
  const Span& width = how.window.width;
  const at::Tensor full = at::conv_transpose2d(input, filter, {}, {height.stride, width.stride});
  const auto rest = [](const Span& span, int64_t extent) {
    return span.output + span.head - full_extent(span, extent);
  };
  return at::constant_pad_nd(full,
                             {-width.head, rest(width, how.image.width), -height.head, rest(height, how.image.height)});
}

}  // namespace

void transpose_conv_rule(OpContext& context) {
  check_weighted_quantization(context, "filter");
  check_channel_dimension(context, 0);
  activation_of(context);
  const TransposeConvolution how = transpose_convolution_of(context);
  const int64_t depth = context.dims("filter")[3];
  if (depth != how.image.channels) {
    context.refuse("filter", "depth {} found, {} input channels need as many", depth, how.image.channels);
  }
  check_bias_extent(context, how.output.channels);
  context.set_output(how.output.dims());
}

void transpose_conv(OpContext& context) {
  const TransposeConvolution how = transpose_convolution_of(context);
  const FuseCode activation = activation_of(context);
  if (!is_quantized_8bit(context.type("input"))) {
    const at::Tensor filter =
        context.cached("filter", "weights", [&] { return arrange_filter(context.real("filter")); });
    const at::Tensor bias = context.real("bias").view({1, -1, 1, 1});
    const at::Tensor output = convolve(how, to_nchw(context.real("input"), how.image), filter).add_(bias);
    return context.store(from_nchw(activate(output, activation), how.output));
  }
  const at::Tensor input = centered(to_nchw(context.stored("input"), how.image), context.operand("input"));
  const at::Tensor sums =
      exact_sums(context, input, 1, arrange_filter,
                 [&](const at::Tensor& x, const at::Tensor& filter) { return convolve(how, x, filter); });
  const int64_t inner = how.output.nchw ? how.output.height * how.output.width : 1;
  context.put(requantize(from_nchw(sums, how.output), context.stored("bias"),
                         multipliers_of(context, "filter", how.output.channels), inner, context.operand("output"),
                         activation));
}

}  // namespace nnapi_convert::host
