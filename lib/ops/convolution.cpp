// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/convolution.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/factor.h"
#include "lib/ops/padding.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Groups of a transposed convolution are written into one weight of up to this many numbers.
constexpr int64_t kMaxDenseWeight = 1 << 16;

// Returns an argument's numbers for height and width; the height of a 1-D convolution gets `fallback`.
std::vector<int64_t> height_and_width(const OpArguments& args, const std::string& name, size_t spatial,
                                      int64_t fallback) {
  std::vector<int64_t> values = args.integers(name, spatial, fallback);
  if (spatial == 1) values.insert(values.begin(), fallback);
  return values;
}

void read_string_padding(const OpArguments& args, Convolution& conv) {
  const std::string padding = args.string("padding");
  conv.padding = conv.padding_end = {0, 0};
  if (padding != "same") return;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t total = conv.dilation[i] * (conv.kernel(i) - 1);
    conv.padding[i] = total / 2;
    conv.padding_end[i] = total - total / 2;
  }
}

// Appends the padding left, right, top, bottom, then the strides along width and height.
void append_window(nnapi::Builder& builder, const Convolution& conv, std::vector<nnapi::OperandId>& inputs) {
  for (const int64_t value :
       {conv.padding[1], conv.padding_end[1], conv.padding[0], conv.padding_end[0], conv.stride[1], conv.stride[0]}) {
    inputs.push_back(builder.int32(value));
  }
}

void append_dilation(nnapi::Builder& builder, const Convolution& conv, std::vector<nnapi::OperandId>& inputs) {
  if (!conv.is_dilated()) return;
  inputs.push_back(builder.int32(conv.dilation[1]));
  inputs.push_back(builder.int32(conv.dilation[0]));
}

// Returns the filter in NNAPI's order: O,H,W,I, or 1,H,W,O for depthwise ones.
LoweredTensor ordered_filter(OpContext& ctx, const Convolution& conv, const LoweredTensor& filter) {
  const bool swaps = conv.transposed || conv.is_depthwise();
  return permuted(ctx, filter, swaps ? std::vector<int64_t>{1, 2, 3, 0} : nnapi::kToNhwc);
}

// Appends one convolution of an [N, C, H, W].
LoweredTensor convolved(OpContext& ctx, const Convolution& conv, const LoweredTensor& image,
                        const ConvolutionWeights& weights, const TensorType& type, FuseCode activation) {
  nnapi::Builder& builder = ctx.builder();
  std::vector<nnapi::OperandId> inputs{image.id, ordered_filter(ctx, conv, weights.filter).id, weights.bias};
  append_window(builder, conv, inputs);
  OperationCode code = OperationCode::CONV_2D;
  if (conv.transposed) {
    code = OperationCode::TRANSPOSE_CONV_2D;
  } else if (conv.is_depthwise()) {
    code = OperationCode::DEPTHWISE_CONV_2D;
    inputs.push_back(builder.int32(conv.output_channels() / conv.groups));
  } else if (conv.groups > 1) {
    code = OperationCode::GROUPED_CONV_2D;
    inputs.push_back(builder.int32(conv.groups));
  }
  inputs.push_back(builder.int32(static_cast<int64_t>(activation)));
  inputs.push_back(builder.boolean(true));
  append_dilation(builder, conv, inputs);
  return {ctx.emit_to(code, inputs, type), type};
}

// Appends one convolution for each group of channels.
LoweredTensor convolved_by_groups(OpContext& ctx, Convolution conv, const LoweredTensor& image,
                                  const WeightsInParts& weights, const TensorType& type, FuseCode activation) {
  const int64_t groups = conv.groups;
  nnapi::Builder& builder = ctx.builder();
  TensorType input_type = image.type;
  input_type.dims[1] = Dim(conv.input_channels() / groups);
  TensorType output_type = type;
  output_type.dims[1] = Dim(conv.output_channels() / groups);
  conv.weight_sizes[0] /= groups;
  conv.groups = 1;
  const auto images = builder.add(OperationCode::SPLIT, {image.id, builder.int32(1), builder.int32(groups)},
                                  std::vector<nnapi::Operand>(static_cast<size_t>(groups), to_operand(input_type)));
  const std::vector<ConvolutionWeights> parts = weights(groups);
  std::vector<nnapi::OperandId> results;
  for (size_t i = 0; i < images.size(); ++i) {
    results.push_back(convolved(ctx, conv, {images[i], input_type}, parts[i], output_type, activation).id);
  }
  results.push_back(builder.int32(1));
  return {ctx.emit_to(OperationCode::CONCATENATION, results, type), type};
}

// Returns the image with the padding that NNAPI doesn't take as a convolution's own: as much as the filter reaches, or
// more.
LoweredTensor with_excess_padding(OpContext& ctx, Convolution& conv, const LoweredTensor& image) {
  Dims pairs(8, Dim(0));
  for (size_t i = 0; i < 2 && !conv.transposed; ++i) {
    const int64_t reach = conv.dilation[i] * (conv.kernel(i) - 1) + 1;
    if (conv.padding[i] < reach && conv.padding_end[i] < reach) continue;
    pairs[4 + 2 * i] = Dim(conv.padding[i]);
    pairs[5 + 2 * i] = Dim(conv.padding_end[i]);
    conv.padding[i] = conv.padding_end[i] = 0;
  }
  return padded(ctx, image, pairs, 0);
}

// Refuses a padding as large as the filter's reach: NNAPI cuts off less than that of a transposed convolution's result.
void check_transposed_padding(const OpContext& ctx, const Convolution& conv) {
  for (size_t i = 0; i < 2 && conv.transposed; ++i) {
    const int64_t reach = conv.dilation[i] * (conv.kernel(i) - 1) + 1;
    ctx.require(conv.padding[i] < reach, fmt::format("padding {} of a kernel that reaches {}", conv.padding[i], reach),
                "less padding, or fixed sizes of float32", "give every size of the input with --input");
  }
}

bool is_split_by_groups(const Convolution& conv) {
  return conv.groups > 1 && (conv.transposed || (conv.is_dilated() && !conv.is_depthwise()));
}

int64_t dense_size(const Convolution& conv) {
  return conv.input_channels() * conv.output_channels() * conv.kernel(0) * conv.kernel(1);
}

bool is_written_densely(const Convolution& conv) {
  return conv.groups > 1 && dense_size(conv) <= kMaxDenseWeight;
}

}  // namespace

std::vector<int64_t> weight_sizes_2d(const OpArguments& args, const Dims& sizes) {
  args.require(sizes.size() == 3 || sizes.size() == 4, fmt::format("a weight of rank {}", sizes.size()), "rank 3 or 4");
  args.require(all_fixed(sizes), "a weight of flexible sizes " + to_text(sizes), "fixed sizes",
               "give every size of the input with --input");
  std::vector<int64_t> result = fixed_values(sizes);
  if (result.size() == 3) result.insert(result.begin() + 2, 1);
  return result;
}

Convolution read_convolution(const OpArguments& args, const Dims& weight) {
  Convolution conv;
  conv.weight_sizes = weight_sizes_2d(args, weight);
  const size_t spatial = weight.size() - 2;
  conv.stride = height_and_width(args, "stride", spatial, 1);
  conv.dilation = height_and_width(args, "dilation", spatial, 1);
  conv.groups = args.integer("groups");
  const std::string kind = args.node().kind().toQualString();
  conv.transposed =
      args.has("transposed") ? args.boolean("transposed") : kind.find("conv_transpose") != std::string::npos;
  if (args.input("padding")->type()->kind() == c10::TypeKind::StringType) {
    read_string_padding(args, conv);
  } else {
    conv.padding = conv.padding_end = height_and_width(args, "padding", spatial, 0);
  }
  if (conv.transposed) conv.output_padding = height_and_width(args, "output_padding", spatial, 0);
  return conv;
}

Dims convolution_dims(const OpArguments& args, const Convolution& conv, const TensorType& input, size_t spatial) {
  require_rank(args, input, spatial + 1, spatial + 2);
  const Dims image = as_image(input.dims, spatial);
  args.require(image[1] == Dim(conv.input_channels()), fmt::format("an input {}", to_text(input)),
               fmt::format("{} channels (dimension {})", conv.input_channels(), input.rank() - spatial - 1), kSeeInput);
  Dims dims(input.dims.begin(), input.dims.end() - static_cast<std::ptrdiff_t>(spatial) - 1);
  dims.emplace_back(conv.output_channels());
  for (size_t i = 2 - spatial; i < 2; ++i) {
    const int64_t padding = conv.padding[i] + conv.padding_end[i];
    if (conv.transposed) {
      const int64_t reach = conv.dilation[i] * (conv.kernel(i) - 1) + 1;
      dims.push_back((image[2 + i] - Dim(1)) * Dim(conv.stride[i]) + Dim(reach - padding + conv.output_padding[i]));
    } else {
      dims.push_back(window_output(image[2 + i], padding, conv.dilation[i], conv.kernel(i), conv.stride[i]));
    }
  }
  require_positive(args, dims);
  return dims;
}

LoweredTensor emit_image_convolution(OpContext& ctx, Convolution conv, const LoweredTensor& image,
                                     const WeightsInParts& weights, const TensorType& type, FuseCode activation) {
  check_transposed_padding(ctx, conv);
  const LoweredTensor roomy = with_excess_padding(ctx, conv, image);
  if (is_split_by_groups(conv)) return convolved_by_groups(ctx, conv, roomy, weights, type, activation);
  return convolved(ctx, conv, roomy, weights(1).front(), type, activation);
}

LoweredTensor emit_convolution(OpContext& ctx, Convolution conv, const LoweredTensor& input, size_t spatial,
                               const WeightsInParts& weights, FuseCode activation) {
  const TensorType output = ctx.output_type();
  const LoweredTensor image = reshaped(ctx, input, as_image(input.type.dims, spatial));
  const TensorType type = output.with_dims(as_image(output.dims, spatial));
  return reshaped(ctx, emit_image_convolution(ctx, std::move(conv), image, weights, type, activation), output.dims);
}

bool needs_written_zeros(const Convolution& conv) {
  if (!conv.transposed) return false;
  return conv.is_dilated() || conv.output_padding[0] > conv.padding_end[0] ||
         conv.output_padding[1] > conv.padding_end[1] || is_written_densely(conv);
}

at::Tensor with_written_zeros(Convolution& conv, const at::Tensor& weight) {
  std::vector<int64_t> sizes = conv.weight_sizes;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t extra = std::max<int64_t>(0, conv.output_padding[i] - conv.padding_end[i]);
    conv.padding_end[i] += extra - conv.output_padding[i];
    sizes[2 + i] = conv.dilation[i] * (conv.kernel(i) - 1) + 1 + extra;
  }
  const int64_t groups = is_written_densely(conv) ? conv.groups : 1;
  const int64_t outputs = sizes[1];
  const int64_t inputs = sizes[0] / groups;
  sizes[1] *= groups;
  at::Tensor result = at::zeros(sizes, weight.options());
  const at::Tensor source = weight.reshape(conv.weight_sizes);
  for (int64_t group = 0; group < groups; ++group) {
    at::Tensor place = result.narrow(0, group * inputs, inputs).narrow(1, group * outputs, outputs);
    for (int64_t i = 0; i < 2; ++i) {
      const auto axis = static_cast<size_t>(i);
      const int64_t reach = conv.dilation[axis] * (conv.kernel(axis) - 1) + 1;
      place = place.slice(2 + i, 0, reach, conv.dilation[axis]);
    }
    place.copy_(source.narrow(0, group * inputs, inputs));
  }
  conv.dilation = {1, 1};
  conv.output_padding = {0, 0};
  conv.groups /= groups;
  conv.weight_sizes = sizes;
  return result;
}

}  // namespace nnapi_convert
