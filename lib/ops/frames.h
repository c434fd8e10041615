// Volumes [N, C, D, H, W] as the images of NNAPI, whose operations have two spatial axes. Frames are [D*N, C, H, W]:
// the batch of an image operation is all planes, those of one depth side by side, so that depth is moved by slices of
// the first axis, which NCHW and NHWC share. Columns are [1, C, D, N*H*W]: the height of an image operation is depth.
// From frames to columns is a RESHAPE in NHWC. Consecutive operators cancel each other's moves.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The number of a volume's axes after the channels.
constexpr size_t kVolumeAxes = 3;

// [N, C, D, H, W] of sizes that may lack N.
Dims volume_dims(const Dims& dims);

// A volume while lowering, as frames.
struct Frames {
  LoweredTensor image;  // [D*N, C, H, W]
  Dim batch;            // N
  Dim depth;            // D

  const Dims& dims() const { return image.type.dims; }
};

// The frames of [N, C, D, H, W], or of [C, D, H, W].
Frames to_frames(OpContext& ctx, const LoweredTensor& volume);
// The volume of `dims`, which may lack N.
LoweredTensor to_volume(OpContext& ctx, const Frames& frames, const Dims& dims);

// [1, C, D, N*H*W], and back to frames of the depth that it has then, each of `plane` (height and width).
LoweredTensor to_columns(OpContext& ctx, const Frames& frames);
Frames from_columns(OpContext& ctx, const LoweredTensor& columns, const Dim& batch, const Dims& plane);

// Frames of zeros before and after all others.
Frames with_zero_frames(OpContext& ctx, const Frames& frames, int64_t before, int64_t after);
// `count` depths from `begin` on, `step` apart.
Frames frames_at(OpContext& ctx, const Frames& frames, const Dim& begin, const Dim& count, int64_t step);

}  // namespace nnapi_convert
