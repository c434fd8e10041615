// Axes, layouts and windows: arithmetic that several families share.
#pragma once

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// An axis argument, negative ones counted from the end; refuses one outside of [-rank, rank).
int64_t axis_of(const OpContext& context, const char* argument, int64_t rank);
// For operations that do not count from the end: an axis in [0, rank).
int64_t axis_from_start(const OpContext& context, const char* argument, int64_t axis, int64_t rank);
int64_t normalized_axis(const OpContext& context, const char* argument, int64_t axis, int64_t rank);
// Each axis of the tensor argument `argument` of axis indices, once, in ascending order.
Dims axes_of(const OpContext& context, const char* argument, int64_t rank);

// The entries of a tensor of INT32, as Long in one dimension; refuses one outside of [0, extent).
at::Tensor checked_indices(const OpContext& context, const char* argument, int64_t extent);

Dims broadcast_dims(const OpContext& context, const char* a, const char* b);

// An image: extents whatever the layout, and the way there and back. Inside kernels images are NCHW by ATen's counting;
// in memory those from NHWC operands are channels-last, so that no copy is made.
struct Image {
  bool nchw = false;
  int64_t batch = 0, channels = 0, height = 0, width = 0;

  Dims dims() const;  // in the operand's order
};
Image image_of(const OpContext& context, const char* argument);
at::Tensor to_nchw(const at::Tensor& operand, const Image& image);
at::Tensor from_nchw(const at::Tensor& tensor, const Image& image);

struct Span {
  int64_t filter = 0, stride = 1, dilation = 1, head = 0, tail = 0;
  int64_t output = 0;
};
struct Window {
  Span height, width;
};
// Reads strides, dilations and either padding; checks them and computes the output's extents.
Window window_of(const OpContext& context, const Image& image, int64_t filter_height, int64_t filter_width);

// The four explicit paddings, at least 0 each, into the window.
void read_explicit_padding(const OpContext& context, Window& window);
PaddingScheme padding_scheme_of(const OpContext& context);
int64_t positive(const OpContext& context, const char* argument);

}  // namespace nnapi_convert::host
