// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/axes.h"

#include <algorithm>

namespace nnapi_convert::host {
namespace {

void read_padding(const OpContext& context, const char* argument, int64_t* padding) {
  *padding = context.integer(argument);
  if (*padding < 0) context.refuse(argument, "{} found, at least 0 needed", *padding);
}

void apply_scheme(PaddingScheme scheme, int64_t input, Span& span) {
  const int64_t reach = (span.filter - 1) * span.dilation + 1;
  if (scheme == PaddingScheme::VALID) return;
  const int64_t output = (input + span.stride - 1) / span.stride;
  const int64_t needed = std::max<int64_t>(0, (output - 1) * span.stride + reach - input);
  span.head = needed / 2;
  span.tail = needed - span.head;
}

// Refuses a padding so large that a window could lie in the padding only.
void check_reach(const OpContext& context, const Span& span, const char* head, const char* tail) {
  const int64_t reach = (span.filter - 1) * span.dilation + 1;
  if (span.head >= reach) context.refuse(head, "{} found, less than the filter's {} needed", span.head, reach);
  if (span.tail >= reach) context.refuse(tail, "{} found, less than the filter's {} needed", span.tail, reach);
}

void compute_output(const OpContext& context, int64_t input, Span& span, const char* axis) {
  const int64_t reach = (span.filter - 1) * span.dilation + 1;
  const int64_t room = input + span.head + span.tail - reach;
  if (room < 0) {
    context.refuse("input", "{} {} and padding {} + {} found, the filter covers {}", axis, input, span.head, span.tail,
                   reach);
  }
  span.output = room / span.stride + 1;
}

}  // namespace

int64_t normalized_axis(const OpContext& context, const char* argument, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) context.refuse(argument, "{} found, {} to {} needed", axis, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

int64_t axis_from_start(const OpContext& context, const char* argument, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank) context.refuse(argument, "{} found, 0 to {} needed", axis, rank - 1);
  return axis;
}

int64_t axis_of(const OpContext& context, const char* argument, int64_t rank) {
  return normalized_axis(context, argument, context.integer(argument), rank);
}

Dims axes_of(const OpContext& context, const char* argument, int64_t rank) {
  Dims axes = context.integers(argument);
  for (int64_t& axis : axes) axis = normalized_axis(context, argument, axis, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

at::Tensor checked_indices(const OpContext& context, const char* argument, int64_t extent) {
  const at::Tensor indices = context.stored(argument).to(at::kLong).reshape({-1});
  for (int64_t i = 0; i < indices.numel(); ++i) {
    const int64_t index = indices.data_ptr<int64_t>()[i];
    if (index < 0 || index >= extent) context.refuse(argument, "index {} found, 0 to {} needed", index, extent - 1);
  }
  return indices;
}

Dims broadcast_dims(const OpContext& context, const char* a, const char* b) {
  const Dims& first = context.dims(a);
  const Dims& second = context.dims(b);
  Dims result(std::max(first.size(), second.size()));
  const auto extent = [](const Dims& dims, std::size_t from_end) {
    return from_end < dims.size() ? dims[dims.size() - 1 - from_end] : 1;
  };
  for (std::size_t i = 0; i < result.size(); ++i) {
    const int64_t x = extent(first, i), y = extent(second, i);
    if (x != y && x != 1 && y != 1) {
      context.refuse(b, "dimensions {} found, {} of {} cannot be broadcast with them", to_string(second),
                     to_string(first), a);
    }
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

Dims Image::dims() const {
  if (nchw) return {batch, channels, height, width};
  return {batch, height, width, channels};
}

Image image_of(const OpContext& context, const char* argument) {
  const Dims& dims = context.dims(argument);
  if (context.flag("layout", false)) return {true, dims[0], dims[1], dims[2], dims[3]};
  return {false, dims[0], dims[3], dims[1], dims[2]};
}

at::Tensor to_nchw(const at::Tensor& operand, const Image& image) {
  return image.nchw ? operand : operand.permute({0, 3, 1, 2});
}

at::Tensor from_nchw(const at::Tensor& tensor, const Image& image) {
  return image.nchw ? tensor.contiguous() : tensor.permute({0, 2, 3, 1}).contiguous();
}

int64_t positive(const OpContext& context, const char* argument) {
  const int64_t number = context.integer(argument);
  if (number <= 0) context.refuse(argument, "{} found, at least 1 needed", number);
  return number;
}

PaddingScheme padding_scheme_of(const OpContext& context) {
  const int64_t scheme = context.integer("padding_scheme");
  if (scheme != static_cast<int64_t>(PaddingScheme::SAME) && scheme != static_cast<int64_t>(PaddingScheme::VALID)) {
    context.refuse("padding_scheme", "{} found, 1 (SAME) or 2 (VALID) needed", scheme);
  }
  return static_cast<PaddingScheme>(scheme);
}

void read_explicit_padding(const OpContext& context, Window& window) {
  read_padding(context, "padding_left", &window.width.head);
  read_padding(context, "padding_right", &window.width.tail);
  read_padding(context, "padding_top", &window.height.head);
  read_padding(context, "padding_bottom", &window.height.tail);
}

Window window_of(const OpContext& context, const Image& image, int64_t filter_height, int64_t filter_width) {
  Window window;
  window.height.filter = filter_height;
  window.width.filter = filter_width;
  window.height.stride = positive(context, "stride_height");
  window.width.stride = positive(context, "stride_width");
  if (context.has("dilation_width")) window.width.dilation = positive(context, "dilation_width");
  if (context.has("dilation_height")) window.height.dilation = positive(context, "dilation_height");
  if (context.has("padding_scheme")) {
    const PaddingScheme scheme = padding_scheme_of(context);
    apply_scheme(scheme, image.height, window.height);
    apply_scheme(scheme, image.width, window.width);
  } else {
    read_explicit_padding(context, window);
    check_reach(context, window.width, "padding_left", "padding_right");
    check_reach(context, window.height, "padding_top", "padding_bottom");
  }
  compute_output(context, image.height, window.height, "height");
  compute_output(context, image.width, window.width, "width");
  return window;
}

}  // namespace nnapi_convert::host
