// SPDX-License-Identifier: BSD-3-Clause
// Turns volumes [N, C, D, H, W] into images, as NNAPI's operations have two spatial axes. Frames are [D*N, C, H, W]:
// the batch holds all planes, planes of one depth next to each other, so that slices of the first axis, which NCHW and
// NHWC share, move along depth. Columns are [1, C, D, N*H*W]: the height of the image is the depth of the volume. In
// NHWC a RESHAPE turns frames into columns. Reshapes of consecutive operators cancel each other.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The number of a volume's axes after the channels.
constexpr size_t kVolumeAxes = 3;

// Returns the sizes as [N, C, D, H, W]; adds N if it is missing.
Dims volume_dims(const Dims& dims);

// A volume while lowering, as frames.
struct Frames {
  LoweredTensor image;  // [D*N, C, H, W]
  Dim batch;            // N
  Dim depth;            // D

  const Dims& dims() const { return image.type.dims; }
};

// Returns the frames of a volume [N, C, D, H, W] or [C, D, H, W].
Frames to_frames(OpContext& ctx, const LoweredTensor& volume);
// Returns the volume with the sizes `dims`, which may lack N.
LoweredTensor to_volume(OpContext& ctx, const Frames& frames, const Dims& dims);

// Turn frames into columns [1, C, D, N*H*W], and columns into frames. The frames have the columns' depth; `plane` is
// their height and width.
LoweredTensor to_columns(OpContext& ctx, const Frames& frames);
Frames from_columns(OpContext& ctx, const LoweredTensor& columns, const Dim& batch, const Dims& plane);

// Adds frames of zeros before and after the frames.
Frames with_zero_frames(OpContext& ctx, const Frames& frames, int64_t before, int64_t after);
// Returns the frames of `count` depths from `begin` on, `step` apart.
Frames frames_at(OpContext& ctx, const Frames& frames, const Dim& begin, const Dim& count, int64_t step);

}  // namespace nnapi_convert
