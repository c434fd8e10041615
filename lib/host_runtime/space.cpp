// SPDX-License-Identifier: BSD-3-Clause
// Operations that move cells between space, depth and batch: DEPTH_TO_SPACE, SPACE_TO_DEPTH, BATCH_TO_SPACE_ND,
// SPACE_TO_BATCH_ND and CHANNEL_SHUFFLE.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

struct Block {
  int64_t height = 1, width = 1;
  int64_t cells() const { return height * width; }
};

Block block_shape_of(const OpContext& context) {
  const Dims block = context.integers("block_shape");
  if (block.size() != 2) context.refuse("block_shape", "{} entries found, 2 needed", block.size());
  if (block[0] < 1 || block[1] < 1) context.refuse("block_shape", "{} found, at least 1 each needed", to_string(block));
  return {block[0], block[1]};
}

void require_multiple(const OpContext& context, const char* argument, const char* what, int64_t extent, int64_t of) {
  if (extent % of != 0) context.refuse(argument, "{} found, {} {} is no multiple of it", of, what, extent);
}

// Returns [head, tail] of the height, then of the width.
Dims space_paddings_of(const OpContext& context) {
  const Dims& shape = context.dims("paddings");
  if (shape != Dims{2, 2}) context.refuse("paddings", "dimensions {} found, [2, 2] needed", to_string(shape));
  const Dims paddings = context.integers("paddings");
  for (const int64_t padding : paddings) {
    if (padding < 0) context.refuse("paddings", "{} found, at least 0 needed", padding);
  }
  return paddings;
}

Image depth_to_space_output(const OpContext& context) {
  Image image = image_of(context, "input");
  const int64_t block = positive(context, "block_size");
  require_multiple(context, "block_size", "the square must divide the depth:", image.channels, block * block);
  return {image.nchw, image.batch, image.channels / (block * block), image.height * block, image.width * block};
}

Image space_to_depth_output(const OpContext& context) {
  Image image = image_of(context, "input");
  const int64_t block = positive(context, "block_size");
  require_multiple(context, "block_size", "height", image.height, block);
  require_multiple(context, "block_size", "width", image.width, block);
  return {image.nchw, image.batch, image.channels * block * block, image.height / block, image.width / block};
}

Image batch_to_space_output(const OpContext& context) {
  Image image = image_of(context, "input");
  const Block block = block_shape_of(context);
  require_multiple(context, "block_shape", "the product must divide the batch:", image.batch, block.cells());
  return {image.nchw, image.batch / block.cells(), image.channels, image.height * block.height,
          image.width * block.width};
}

Image space_to_batch_output(const OpContext& context) {
  Image image = image_of(context, "input");
  const Block block = block_shape_of(context);
  const Dims paddings = space_paddings_of(context);
  image.height += paddings[0] + paddings[1];
  image.width += paddings[2] + paddings[3];
  require_multiple(context, "block_shape", "padded height", image.height, block.height);
  require_multiple(context, "block_shape", "padded width", image.width, block.width);
  return {image.nchw, image.batch * block.cells(), image.channels, image.height / block.height,
          image.width / block.width};
}

int64_t shuffle_groups(const OpContext& context, int64_t axis) {
  const int64_t groups = positive(context, "groups");
  require_multiple(context, "groups", "the axis' extent", context.dims("input")[static_cast<std::size_t>(axis)],
                   groups);
  return groups;
}

}  // namespace

void depth_to_space_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  context.set_output(depth_to_space_output(context).dims());
}

void depth_to_space(OpContext& context) {
  const Image output = depth_to_space_output(context);
  const Image image = image_of(context, "input");
  const int64_t block = context.integer("block_size");
  const at::Tensor cells = to_nchw(context.stored("input"), image)
                               .reshape({image.batch, block, block, output.channels, image.height, image.width});
  const at::Tensor moved =
      cells.permute({0, 3, 4, 1, 5, 2}).reshape({output.batch, output.channels, output.height, output.width});
  context.put(from_nchw(moved, output));
}

void space_to_depth_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  context.set_output(space_to_depth_output(context).dims());
}

void space_to_depth(OpContext& context) {
  const Image output = space_to_depth_output(context);
  const Image image = image_of(context, "input");
  const int64_t block = context.integer("block_size");
  const at::Tensor cells = to_nchw(context.stored("input"), image)
                               .reshape({image.batch, image.channels, output.height, block, output.width, block});
  const at::Tensor moved =
      cells.permute({0, 3, 5, 1, 2, 4}).reshape({output.batch, output.channels, output.height, output.width});
  context.put(from_nchw(moved, output));
}

void batch_to_space_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  context.set_output(batch_to_space_output(context).dims());
}

void batch_to_space(OpContext& context) {
  const Image output = batch_to_space_output(context);
  const Image image = image_of(context, "input");
  const Block block = block_shape_of(context);
  const at::Tensor cells =
      to_nchw(context.stored("input"), image)
          .reshape({block.height, block.width, output.batch, image.channels, image.height, image.width});
  const at::Tensor moved =
      cells.permute({2, 3, 4, 0, 5, 1}).reshape({output.batch, output.channels, output.height, output.width});
  context.put(from_nchw(moved, output));
}

void space_to_batch_rule(OpContext& context) {
  require_paddable(context);
  require_same_quantization(context, "input", "output");
  context.set_output(space_to_batch_output(context).dims());
}

void space_to_batch(OpContext& context) {
  const Image output = space_to_batch_output(context);
  const Image image = image_of(context, "input");
  const Block block = block_shape_of(context);
  const Dims paddings = space_paddings_of(context);
  const at::Tensor padded =
      at::constant_pad_nd(to_nchw(context.stored("input"), image), {paddings[2], paddings[3], paddings[0], paddings[1]},
                          context.operand("input").zero_point);
  const at::Tensor cells =
      padded.reshape({image.batch, image.channels, output.height, block.height, output.width, block.width});
  const at::Tensor moved =
      cells.permute({3, 5, 0, 1, 2, 4}).reshape({output.batch, output.channels, output.height, output.width});
  context.put(from_nchw(moved, output));
}

void channel_shuffle_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  shuffle_groups(context, axis_of(context, "axis", context.rank("input")));
  context.set_output(context.dims("input"));
}

void channel_shuffle(OpContext& context) {
  const int64_t axis = axis_of(context, "axis", context.rank("input"));
  const int64_t groups = shuffle_groups(context, axis);
  const at::Tensor input = context.stored("input");
  Dims grouped = context.dims("input");
  grouped[static_cast<std::size_t>(axis)] /= groups;
  grouped.insert(grouped.begin() + axis, groups);
  context.put(input.reshape(grouped).transpose(axis, axis + 1).reshape(input.sizes()).contiguous());
}

}  // namespace nnapi_convert::host
