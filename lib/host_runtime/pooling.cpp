// SPDX-License-Identifier: BSD-3-Clause
// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
#include <limits>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

struct Pool {
  Image image, output;
  Window window;
  FuseCode activation = FuseCode::NONE;
};

Pool pool_of(const OpContext& context) {
  Pool pool;
  pool.image = image_of(context, "input");
  pool.window = window_of(context, pool.image, positive(context, "filter_height"), positive(context, "filter_width"));
  pool.activation = activation_of(context);
  pool.output = {pool.image.nchw, pool.image.batch, pool.image.channels, pool.window.height.output,
                 pool.window.width.output};
  return pool;
}

at::Tensor padded(const at::Tensor& input, const Window& window, double value) {
  const Span& height = window.height;
  const Span& width = window.width;
  if (height.head + height.tail + width.head + width.tail == 0) return input;
  return at::constant_pad_nd(input, {width.head, width.tail, height.head, height.tail}, value);
}

at::Tensor window_sums(const at::Tensor& input, const Window& window) {
  return at::avg_pool2d(padded(input, window, 0), {window.height.filter, window.width.filter},
                        {window.height.stride, window.width.stride}, {0, 0}, false, true, 1);
}

// Returns the means over the cells of each window that are inside the image.
at::Tensor window_means(const at::Tensor& input, const Pool& pool) {
  const at::Tensor cells = at::ones({1, 1, pool.image.height, pool.image.width}, input.options());
  return window_sums(input, pool.window).div_(window_sums(cells, pool.window));
}

at::Tensor window_maxima(const at::Tensor& input, const Pool& pool) {
  const Window& window = pool.window;
  return at::max_pool2d(padded(input, window, -std::numeric_limits<double>::infinity()),
                        {window.height.filter, window.width.filter}, {window.height.stride, window.width.stride});
}

template <typename Reduce>
void pool_with(OpContext& context, const Reduce& reduce) {
  const Pool pool = pool_of(context);
  if (!is_quantized_8bit(context.type("input"))) {
    const at::Tensor output = reduce(to_nchw(context.real("input"), pool.image), pool);
    return context.store(from_nchw(activate(output, pool.activation), pool.output));
  }
  // Input and output have the same scale, so the kernel averages the codes.
  const at::Tensor codes = to_nchw(context.stored("input"), pool.image).to(at::kFloat);
  context.put(round_codes(from_nchw(reduce(codes, pool), pool.output), context.operand("output"), pool.activation));
}

}  // namespace

void pool_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Pool pool = pool_of(context);
  context.set_output(pool.output.dims());
}

void average_pool(OpContext& context) {
  pool_with(context, window_means);
}

void max_pool(OpContext& context) {
  pool_with(context, window_maxima);
}

void l2_pool(OpContext& context) {
  pool_with(context,
            [](const at::Tensor& input, const Pool& pool) { return window_means(input.square(), pool).sqrt_(); });
}

}  // namespace nnapi_convert::host
