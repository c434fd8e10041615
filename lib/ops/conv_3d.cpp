// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of volumes, float32: NNAPI has images only. What one depth of the kernel sees is a frame, and the planes
// of all depths are one batch (frames.h):
//  - a kernel of depth 1 is a CONV_2D of the frames,
//  - a kernel of height and width 1 is a CONV_2D of the columns, whose height is depth,
//  - any other reads, for each depth of the kernel, the frames moved by that depth. Joined along the channels they are
//    the input of one CONV_2D, which has as many multiply-adds and takes a batch norm and an activation as others do.
//    With groups, whose channels would have to be mixed, it is a convolution for each depth, and their sum.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/convolution.h"
#include "lib/ops/expression.h"
#include "lib/ops/factor.h"
#include "lib/ops/frames.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

struct VolumeConvolution {
  Convolution plane;  // height and width, with the kernel's channels
  int64_t kernel = 1, stride = 1, padding = 0, padding_end = 0, dilation = 1;  // along the depth

  // True if the kernel's height and width are 1, and stride and padding there do nothing.
  bool is_column() const {
    const std::vector<int64_t> ones{1, 1}, zeros{0, 0};
    return plane.kernel(0) == 1 && plane.kernel(1) == 1 && plane.stride == ones && plane.padding == zeros &&
           plane.padding_end == zeros;
  }
};

std::vector<int64_t> last_two(const std::vector<int64_t>& values) {
  return {values[1], values[2]};
}

void read_padding(const OpArguments& args, VolumeConvolution& conv, const std::vector<int64_t>& kernel,
                  const std::vector<int64_t>& dilation) {
  std::vector<int64_t> before(kVolumeAxes, 0), after(kVolumeAxes, 0);
  if (args.input("padding")->type()->kind() != c10::TypeKind::StringType) {
    before = after = args.integers("padding", kVolumeAxes, 0);
  } else if (args.string("padding") == "same") {
    for (size_t i = 0; i < kVolumeAxes; ++i) {
      const int64_t total = dilation[i] * (kernel[i] - 1);
      before[i] = total / 2;
      after[i] = total - total / 2;
    }
  }
  conv.padding = before[0];
  conv.padding_end = after[0];
  conv.plane.padding = last_two(before);
  conv.plane.padding_end = last_two(after);
}

VolumeConvolution read_volume_convolution(const OpArguments& args) {
  const Dims weight = args.tensor("weight").dims;
  args.require(all_fixed(weight), "a weight of flexible sizes " + to_text(weight), "fixed sizes",
               "give every size of the input with --input");
  const bool is_transposed = args.has("transposed") && args.boolean("transposed");
  args.require(!is_transposed, "a transposed convolution of volumes", "conv3d, or conv_transpose2d",
               "NNAPI transposes 2-D convolutions only");
  const std::vector<int64_t> sizes = fixed_values(weight);
  const std::vector<int64_t> kernel(sizes.begin() + 2, sizes.end());
  const std::vector<int64_t> stride = args.integers("stride", kVolumeAxes, 1);
  const std::vector<int64_t> dilation = args.integers("dilation", kVolumeAxes, 1);
  VolumeConvolution conv;
  conv.kernel = kernel[0];
  conv.stride = stride[0];
  conv.dilation = dilation[0];
  conv.plane.weight_sizes = {sizes[0], sizes[1], kernel[1], kernel[2]};
  conv.plane.stride = last_two(stride);
  conv.plane.dilation = last_two(dilation);
  conv.plane.groups = args.integer("groups");
  read_padding(args, conv, kernel, dilation);
  return conv;
}

// Returns the sizes [N, C, D, H, W] of the result.
Dims result_dims(const OpArguments& args, const VolumeConvolution& conv) {
  const TensorType input = args.tensor("input");
  const Dims volume = volume_dims(input.dims);
  args.require(volume[1] == Dim(conv.plane.input_channels()), fmt::format("an input {}", to_text(input)),
               fmt::format("{} channels (dimension {})", conv.plane.input_channels(), input.rank() - kVolumeAxes - 1),
               kSeeInput);
  const Convolution& plane = conv.plane;
  Dims dims{volume[0], Dim(plane.output_channels()),
            window_output(volume[2], conv.padding + conv.padding_end, conv.dilation, conv.kernel, conv.stride)};
  for (size_t i = 0; i < 2; ++i) {
    dims.push_back(window_output(volume[3 + i], plane.padding[i] + plane.padding_end[i], plane.dilation[i],
                                 plane.kernel(i), plane.stride[i]));
  }
  require_positive(args, dims);
  return dims;
}

// The filter and bias of an image convolution. The filter may have any rank, with as many numbers as conv.weight_sizes.
struct Weights {
  Factor filter, bias;
};

LoweredTensor convolved_plane(OpContext& ctx, const Convolution& conv, const LoweredTensor& image,
                              const Weights& weights, const Dims& result) {
  const auto in_parts = [&](int64_t count) {
    const std::vector<Factor> filters = weights.filter.reshaped(to_dims(conv.weight_sizes)).split(count);
    const std::vector<Factor> biases = weights.bias.split(count);
    std::vector<ConvolutionWeights> parts;
    for (size_t i = 0; i < filters.size(); ++i) {
      parts.push_back({{filters[i].operand(), filters[i].type()}, biases[i].operand()});
    }
    return parts;
  };
  return emit_image_convolution(ctx, conv, image, in_parts, image.type.with_dims(result), FuseCode::NONE);
}

// Convolves the columns of the volume, for a kernel that is a column.
Frames convolved_columns(OpContext& ctx, const VolumeConvolution& conv, const Frames& frames, const Weights& weights,
                         const Dims& result) {
  Convolution column = conv.plane;
  column.weight_sizes[2] = conv.kernel;
  column.stride = {conv.stride, 1};
  column.dilation = {conv.dilation, 1};
  column.padding = {conv.padding, 0};
  column.padding_end = {conv.padding_end, 0};
  const LoweredTensor columns = to_columns(ctx, frames);
  const Dims dims{Dim(1), result[1], result[2], columns.type.dims[3]};
  return from_columns(ctx, convolved_plane(ctx, column, columns, weights, dims), frames.batch, {result[3], result[4]});
}

// Returns the frames that depth `tap` of the kernel reads.
Frames frames_of_tap(OpContext& ctx, const VolumeConvolution& conv, const Frames& padded, int64_t tap,
                     const Dim& depth) {
  return frames_at(ctx, padded, Dim(tap * conv.dilation), depth, conv.stride);
}

// Returns all frames that a result reads, joined along the channels.
LoweredTensor joined_taps(OpContext& ctx, const VolumeConvolution& conv, const Frames& padded, const Dim& depth) {
  std::vector<nnapi::OperandId> inputs;
  TensorType type;
  for (int64_t tap = 0; tap < conv.kernel; ++tap) {
    const LoweredTensor image = frames_of_tap(ctx, conv, padded, tap, depth).image;
    inputs.push_back(image.id);
    type = image.type;
  }
  if (conv.kernel == 1) return {inputs[0], type};
  type.dims[1] *= Dim(conv.kernel);
  inputs.push_back(ctx.builder().int32(1));
  return {ctx.emit_to(OperationCode::CONCATENATION, inputs, type), type};
}

// Convolves the joined frames. The filter gets the kernel's depths among its channels by a recipe: no bytes are copied.
LoweredTensor convolved_joined(OpContext& ctx, const VolumeConvolution& conv, const Frames& padded,
                               const Weights& weights, const Dims& result) {
  Convolution joined = conv.plane;
  joined.weight_sizes[1] *= conv.kernel;
  const Factor filter =
      conv.kernel == 1 ? weights.filter : Factor(ctx, ctx.operand("weight")).permuted({0, 2, 1, 3, 4});
  return convolved_plane(ctx, joined, joined_taps(ctx, conv, padded, result[2]), {filter, weights.bias},
                         {result[2] * padded.batch, result[1], result[3], result[4]});
}

LoweredTensor sum_of_taps(OpContext& ctx, const VolumeConvolution& conv, const Frames& padded, const Weights& weights,
                          const Dims& result) {
  ctx.require(weights.filter.is_constant(),
              fmt::format("a weight computed at run time with {} groups and depth {}", conv.plane.groups, conv.kernel),
              "a constant weight");
  const Factor no_bias(ctx, at::zeros({conv.plane.output_channels()}));
  const Dims dims{result[2] * padded.batch, result[1], result[3], result[4]};
  const auto of_tap = [&](int64_t tap) {
    const Factor filter(ctx, weights.filter.constant().narrow(2, tap, 1));
    const Frames frames = frames_of_tap(ctx, conv, padded, tap, result[2]);
    return Expression(
        ctx, convolved_plane(ctx, conv.plane, frames.image, {filter, tap == 0 ? weights.bias : no_bias}, dims));
  };
  Expression sum = of_tap(0);
  for (int64_t tap = 1; tap < conv.kernel; ++tap) sum = sum + of_tap(tap);
  return {sum.id(), sum.type()};
}

}  // namespace

TensorType volume_convolution_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_rank(args, input, kVolumeAxes + 1, kVolumeAxes + 2);
  Dims dims = result_dims(args, read_volume_convolution(args));
  if (input.rank() == kVolumeAxes + 1) dims.erase(dims.begin());
  return input.with_dims(dims);
}

void lower_volume_convolution(OpContext& ctx) {
  const VolumeConvolution conv = read_volume_convolution(ctx);
  const Dims result = result_dims(ctx, conv);
  const Factor bias =
      ctx.is_none("bias") ? Factor(ctx, at::zeros({conv.plane.output_channels()})) : Factor(ctx, "bias");
  const Weights weights{Factor(ctx, "weight"), bias};
  const Frames frames = to_frames(ctx, ctx.operand("input"));
  const auto set_output = [&](const Frames& found) {
    ctx.set_output(to_volume(ctx, found, ctx.output_type().dims).id);
  };
  if (conv.kernel > 1 && conv.is_column()) return set_output(convolved_columns(ctx, conv, frames, weights, result));
  const Frames padded = with_zero_frames(ctx, frames, conv.padding, conv.padding_end);
  const bool is_joined = conv.kernel == 1 || conv.plane.groups == 1;
  const LoweredTensor image = is_joined ? convolved_joined(ctx, conv, padded, weights, result)
                                        : sum_of_taps(ctx, conv, padded, weights, result);
  set_output({image, frames.batch, result[2]});
}

}  // namespace nnapi_convert
