// SPDX-License-Identifier: BSD-3-Clause
// Moves between channels and places: pixel_shuffle, pixel_unshuffle, channel_shuffle. PyTorch numbers the channels of a
// block [channel, place], NNAPI [place, channel]; the CHANNEL_SHUFFLE between them folds into a convolution beside it.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/expression.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

TensorType checked_self(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const bool is_integer = self.dtype == at::kInt || self.dtype == at::kLong;
  args.require(self.dtype == at::kFloat || self.dtype == at::kQUInt8 || is_integer, "a tensor " + to_text(self),
               "float32, quint8, int32 or int64");
  return self;
}

// Returns the argument self; integers are cast to float32 to be moved.
LoweredTensor self_operand(OpContext& ctx) {
  const Expression self = argument(ctx, "self");
  const Expression moved = self.is_float() || self.type().is_quantized() ? self : cast(self, at::kFloat);
  return {moved.id(), moved.type()};
}

// Makes the tensor the node's output, with the output's sizes and dtype.
void set_moved(OpContext& ctx, const LoweredTensor& moved) {
  const TensorType output = ctx.output_type();
  const LoweredTensor result = reshaped(ctx, moved, output.dims);
  if (output.is_quantized()) return ctx.set_output(result.id);
  Expression(ctx, result).set_output();
}

int64_t block_size(const OpArguments& args, const char* name) {
  const int64_t block = args.integer(name);
  args.require(block >= 1, fmt::format("{} = {}", name, block), "at least 1");
  return block;
}

// Returns the sizes [..., C, H, W] as [N, C, H, W].
Dims as_blocks(const Dims& dims) {
  const auto channels = dims.end() - 3;
  Dims image{product(Dims(dims.begin(), channels))};
  image.insert(image.end(), channels, dims.end());
  return image;
}

// Returns size / divisor; refuses a divisor that doesn't divide the size.
Dim divided(const OpArguments& args, const Dim& size, int64_t divisor) {
  const auto quotient = size.exact_div(Dim(divisor));
  if (size.is_fixed() && size.value() % divisor == 0) return {size.value() / divisor};
  args.require(quotient.has_value(), fmt::format("a size {}", size.text()), fmt::format("a multiple of {}", divisor),
               size.is_fixed() ? "" : "give every size of the input with --input");
  return *quotient;
}

std::vector<ValueType> pixel_shuffle_type(const OpArguments& args) {
  const TensorType self = checked_self(args);
  require_rank(args, self, 3, kHighestRank);
  const int64_t block = block_size(args, "upscale_factor");
  Dims dims = self.dims;
  const size_t channels = dims.size() - 3;
  dims[channels] = divided(args, dims[channels], block * block);
  for (size_t i = channels + 1; i < dims.size(); ++i) dims[i] *= Dim(block);
  return {self.with_dims(dims)};
}

std::vector<ValueType> pixel_unshuffle_type(const OpArguments& args) {
  const TensorType self = checked_self(args);
  require_rank(args, self, 3, kHighestRank);
  const int64_t block = block_size(args, "downscale_factor");
  Dims dims = self.dims;
  const size_t channels = dims.size() - 3;
  dims[channels] *= Dim(block * block);
  for (size_t i = channels + 1; i < dims.size(); ++i) dims[i] = divided(args, dims[i], block);
  return {self.with_dims(dims)};
}

// Reorders channels numbered [groups, rest] to [rest, groups].
LoweredTensor shuffled(OpContext& ctx, const LoweredTensor& tensor, const Dim& groups) {
  if (groups == Dim(1) || groups == tensor.type.dims[1]) return tensor;
  nnapi::Builder& builder = ctx.builder();
  return {
      ctx.emit_to(OperationCode::CHANNEL_SHUFFLE, {tensor.id, builder.int32(groups), builder.int32(1)}, tensor.type),
      tensor.type};
}

void lower_pixel_shuffle(OpContext& ctx) {
  const int64_t block = block_size(ctx, "upscale_factor");
  if (block == 1) return ctx.set_output(ctx.operand("self").id);
  const LoweredTensor self = self_operand(ctx);
  const TensorType output = ctx.output_type();
  const TensorType type = self.type.with_dims(as_blocks(output.dims));
  const LoweredTensor image = shuffled(ctx, reshaped(ctx, self, as_blocks(self.type.dims)), type.dims[1]);
  nnapi::Builder& builder = ctx.builder();
  const nnapi::OperandId result =
      ctx.emit_to(OperationCode::DEPTH_TO_SPACE, {image.id, builder.int32(block), builder.boolean(true)}, type);
  set_moved(ctx, {result, type});
}

void lower_pixel_unshuffle(OpContext& ctx) {
  const int64_t block = block_size(ctx, "downscale_factor");
  if (block == 1) return ctx.set_output(ctx.operand("self").id);
  const LoweredTensor self = self_operand(ctx);
  const TensorType output = ctx.output_type();
  const TensorType type = self.type.with_dims(as_blocks(output.dims));
  const LoweredTensor image = reshaped(ctx, self, as_blocks(self.type.dims));
  nnapi::Builder& builder = ctx.builder();
  const nnapi::OperandId result =
      ctx.emit_to(OperationCode::SPACE_TO_DEPTH, {image.id, builder.int32(block), builder.boolean(true)}, type);
  set_moved(ctx, shuffled(ctx, {result, type}, Dim(block * block)));
}

std::vector<ValueType> channel_shuffle_type(const OpArguments& args) {
  const TensorType self = checked_self(args);
  require_rank(args, self, 3, kHighestRank);
  divided(args, self.dims[1], block_size(args, "groups"));
  return {self};
}

void lower_channel_shuffle(OpContext& ctx) {
  const LoweredTensor self = self_operand(ctx);
  const Dims dims = self.type.dims;
  // The places of a volume are reshaped to those of a picture.
  Dims image(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(3, dims.size())));
  if (dims.size() > 3) image.push_back(product(Dims(dims.begin() + 3, dims.end())));
  set_moved(ctx, shuffled(ctx, reshaped(ctx, self, image), Dim(ctx.integer("groups"))));
}

}  // namespace

OpRules pixel_rules() {
  return {
      {"aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", 1,
       "float32, quint8 or integers; without a convolution before it: feature level 2", pixel_shuffle_type,
       lower_pixel_shuffle, row_wise(Rows::kImages)},
      {"aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", 1,
       "float32, quint8 or integers; without a convolution after it: feature level 2", pixel_unshuffle_type,
       lower_pixel_unshuffle, row_wise(Rows::kImages)},
      {"aten::channel_shuffle(Tensor self, int groups) -> Tensor", 1,
       "float32, quint8 or integers; without a convolution beside it: feature level 2", channel_shuffle_type,
       lower_channel_shuffle, kUnprovedRows},
      {"aten::native_channel_shuffle(Tensor self, int groups) -> Tensor", 2,
       "float32, quint8 or integers; without a convolution beside it: feature level 2", channel_shuffle_type,
       lower_channel_shuffle, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
