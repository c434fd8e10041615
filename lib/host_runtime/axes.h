// SPDX-License-Identifier: BSD-3-Clause
// Computes axes, layouts and windows for several families of operations.
#pragma once

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

// Returns an axis argument; a negative axis counts from the end. Refuses an axis outside of [-rank, rank).
int64_t axis_of(const OpContext& context, const char* argument, int64_t rank);
// Returns an axis for operations that do not count from the end; refuses an axis outside of [0, rank).
int64_t axis_from_start(const OpContext& context, const char* argument, int64_t axis, int64_t rank);
int64_t normalized_axis(const OpContext& context, const char* argument, int64_t axis, int64_t rank);
// Returns the axes in the tensor argument `argument`, each once, in ascending order.
Dims axes_of(const OpContext& context, const char* argument, int64_t rank);

// Returns the entries of a tensor of INT32 as a 1-D Long tensor; refuses an entry outside of [0, extent).
at::Tensor checked_indices(const OpContext& context, const char* argument, int64_t extent);

Dims broadcast_dims(const OpContext& context, const char* a, const char* b);

// The extents of an image, whatever its layout. Inside kernels the axes of images are in the order NCHW; an image from
// an NHWC operand is channels-last in memory, so that no copy is needed.
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
// Reads strides, dilations and the explicit or implicit padding; checks them and computes the output's extents.
Window window_of(const OpContext& context, const Image& image, int64_t filter_height, int64_t filter_width);

// Reads the four explicit paddings, at least 0 each, into the window.
void read_explicit_padding(const OpContext& context, Window& window);
PaddingScheme padding_scheme_of(const OpContext& context);
int64_t positive(const OpContext& context, const char* argument);

}  // namespace nnapi_convert::host
