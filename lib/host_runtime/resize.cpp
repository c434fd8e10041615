// SPDX-License-Identifier: BSD-3-Clause
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
#include <algorithm>
#include <cmath>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

struct Resize {
  Image image, output;
  bool align_corners = false, half_pixel_centers = false;
};

int64_t output_extent(const OpContext& context, int64_t input, const char* size, const char* scale) {
  if (context.has(size)) return positive(context, size);
  const double factor = context.number(scale);
  const double extent = std::floor(static_cast<float>(input) * static_cast<float>(factor));
  if (!(extent >= 1) || extent > 1e9) context.refuse(scale, "{} found, it makes {} of {}", factor, extent, input);
  return static_cast<int64_t>(extent);
}

Resize resize_of(const OpContext& context) {
  Resize resize;
  resize.image = image_of(context, "input");
  resize.output = resize.image;
  resize.output.height = output_extent(context, resize.image.height, "output_height", "height_scale");
  resize.output.width = output_extent(context, resize.image.width, "output_width", "width_scale");
  resize.align_corners = context.flag("align_corners", false);
  resize.half_pixel_centers = context.flag("half_pixel_centers", false);
  return resize;
}

float step_of(const Resize& resize, int64_t input, int64_t output) {
  if (resize.align_corners && output > 1) return static_cast<float>(input - 1) / static_cast<float>(output - 1);
  return static_cast<float>(input) / static_cast<float>(output);
}

// Blends the two nearest lines along one axis.
at::Tensor interpolated(const at::Tensor& input, int64_t axis, int64_t output, const Resize& resize) {
  const int64_t extent = input.size(axis);
  const float step = step_of(resize, extent, output);
  std::vector<int64_t> low, high;
  std::vector<float> weights;
  for (int64_t i = 0; i < output; ++i) {
    const float at =
        resize.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * step - 0.5f : static_cast<float>(i) * step;
    const int64_t floor = static_cast<int64_t>(std::floor(at));
    low.push_back(std::clamp<int64_t>(floor, 0, extent - 1));
    high.push_back(std::clamp<int64_t>(floor + 1, 0, extent - 1));
    weights.push_back(at - static_cast<float>(floor));
  }
  Dims shape(4, 1);
  shape[static_cast<std::size_t>(axis)] = output;
  const at::Tensor weight = at::tensor(weights, at::kFloat).view(shape);
  const at::Tensor first = at::index_select(input, axis, at::tensor(low, at::kLong));
  const at::Tensor second = at::index_select(input, axis, at::tensor(high, at::kLong));
  return first.add(second.sub(first).mul_(weight));
}

at::Tensor nearest_lines(int64_t input, int64_t output, const Resize& resize) {
  const float step = step_of(resize, input, output);
  std::vector<int64_t> lines;
  for (int64_t i = 0; i < output; ++i) {
    const float at = (static_cast<float>(i) + (resize.half_pixel_centers ? 0.5f : 0.0f)) * step;
    const float line = resize.align_corners ? std::round(at) : std::floor(at);
    lines.push_back(std::clamp<int64_t>(static_cast<int64_t>(line), 0, input - 1));
  }
  return at::tensor(lines, at::kLong);
}

}  // namespace

void resize_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Resize resize = resize_of(context);
  if (resize.align_corners && resize.half_pixel_centers) {
    context.refuse("half_pixel_centers", "true found, false needed with align_corners");
  }
  context.set_output(resize.output.dims());
}

void resize_bilinear(OpContext& context) {
  const Resize resize = resize_of(context);
  const at::Tensor input = to_nchw(context.real("input"), resize.image);
  const at::Tensor rows = interpolated(input, 2, resize.output.height, resize);
  context.store(from_nchw(interpolated(rows, 3, resize.output.width, resize), resize.output));
}

void resize_nearest(OpContext& context) {
  const Resize resize = resize_of(context);
  const at::Tensor input = to_nchw(context.stored("input"), resize.image);
  const at::Tensor rows = at::index_select(input, 2, nearest_lines(resize.image.height, resize.output.height, resize));
  const at::Tensor output = at::index_select(rows, 3, nearest_lines(resize.image.width, resize.output.width, resize));
  context.put(from_nchw(output, resize.output));
}

}  // namespace nnapi_convert::host
