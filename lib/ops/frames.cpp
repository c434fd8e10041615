// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/frames.h"

#include "lib/ops/factor.h"
#include "lib/ops/padding.h"

namespace nnapi_convert {

Dims volume_dims(const Dims& dims) {
  Dims result = dims;
  if (result.size() == kVolumeAxes + 1) result.insert(result.begin(), Dim(1));
  return result;
}

Frames to_frames(OpContext& ctx, const LoweredTensor& volume) {
  const Dims dims = volume_dims(volume.type.dims);
  const LoweredTensor planes = permuted(ctx, reshaped(ctx, volume, dims), {2, 0, 1, 3, 4});
  return {reshaped(ctx, planes, {dims[2] * dims[0], dims[1], dims[3], dims[4]}), dims[0], dims[2]};
}

LoweredTensor to_volume(OpContext& ctx, const Frames& frames, const Dims& dims) {
  const Dims& image = frames.dims();
  const LoweredTensor planes = reshaped(ctx, frames.image, {frames.depth, frames.batch, image[1], image[2], image[3]});
  return reshaped(ctx, permuted(ctx, planes, {1, 2, 0, 3, 4}), dims);
}

LoweredTensor to_columns(OpContext& ctx, const Frames& frames) {
  const Dims& image = frames.dims();
  const Dim cells = image[2] * image[3];
  const LoweredTensor planes = reshaped(ctx, frames.image, {frames.depth, frames.batch, image[1], cells});
  return reshaped(ctx, permuted(ctx, planes, {2, 0, 1, 3}), {Dim(1), image[1], frames.depth, frames.batch * cells});
}

Frames from_columns(OpContext& ctx, const LoweredTensor& columns, const Dim& batch, const Dims& plane) {
  const Dims& dims = columns.type.dims;
  const LoweredTensor planes = reshaped(ctx, columns, {dims[1], dims[2], batch, plane[0] * plane[1]});
  return {reshaped(ctx, permuted(ctx, planes, {1, 2, 0, 3}), {dims[2] * batch, dims[1], plane[0], plane[1]}), batch,
          dims[2]};
}

Frames with_zero_frames(OpContext& ctx, const Frames& frames, int64_t before, int64_t after) {
  Dims pairs(8, Dim(0));
  pairs[0] = Dim(before) * frames.batch;
  pairs[1] = Dim(after) * frames.batch;
  return {padded(ctx, frames.image, pairs, 0), frames.batch, frames.depth + Dim(before + after)};
}

Frames frames_at(OpContext& ctx, const Frames& frames, const Dim& begin, const Dim& count, int64_t step) {
  // The planes of a batch stay together: a step has to go over all of them.
  const bool goes_over_batch = step != 1 && frames.batch != Dim(1);
  LoweredTensor image = frames.image;
  const Dims dims = image.type.dims;
  if (goes_over_batch) image = reshaped(ctx, image, {frames.depth, frames.batch * dims[1], dims[2], dims[3]});
  const Dim unit = goes_over_batch ? Dim(1) : frames.batch;
  Dims first(4, Dim(0)), end = image.type.dims, steps(4, Dim(1));
  first[0] = begin * unit;
  end[0] = (begin + (count - Dim(1)) * Dim(step) + Dim(1)) * unit;
  steps[0] = Dim(step);
  TensorType type = image.type;
  type.dims[0] = count * unit;
  const LoweredTensor part{ctx.sliced(image, first, end, steps), type};
  return {reshaped(ctx, part, {count * frames.batch, dims[1], dims[2], dims[3]}), frames.batch, count};
}

}  // namespace nnapi_convert
