// SPDX-License-Identifier: BSD-3-Clause
// Transposed convolutions that TRANSPOSE_CONV_2D does not take as they are: of volumes, with padding as wide as the
// kernel, and with weights that are computed as the model runs and have dilation, groups or a large output_padding.
// Convolutions of volumes in groups, with such weights.
#include <ATen/ATen.h>

#include <algorithm>

#include "lib/ops/formulas.h"
#include "lib/ops/frames.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

struct Transposed {
  std::vector<int64_t> stride, padding, output_padding, dilation;
  int64_t groups;
};

Transposed read_transposed(const FormulaArguments& args, size_t spatial) {
  const std::vector<int64_t> ones(spatial, 1), zeros(spatial, 0);
  return {args.integers("stride", spatial, ones), args.integers("padding", spatial, zeros),
          args.integers("output_padding", spatial, zeros), args.integers("dilation", spatial, ones),
          args.integer("groups")};
}

std::vector<int64_t> without_first(const std::vector<int64_t>& values) {
  return {values.begin() + 1, values.end()};
}

// True for padding as wide as the kernel, which NNAPI doesn't take.
bool is_wide(int64_t padding, int64_t kernel, int64_t dilation) {
  return padding > dilation * (kernel - 1);
}

// Computes a transposed 2-D convolution. Wide padding is instead cut off the unpadded result.
Tensor plane_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Transposed& conv) {
  const auto& padding = conv.padding;
  const auto& more = conv.output_padding;
  if (!is_wide(padding[0], weight.size(2), conv.dilation[0]) &&
      !is_wide(padding[1], weight.size(3), conv.dilation[1])) {
    return at::conv_transpose2d(x, weight, bias, conv.stride, padding, more, conv.groups, conv.dilation);
  }
  const Tensor whole = at::conv_transpose2d(x, weight, {}, conv.stride, 0, 0, conv.groups, conv.dilation);
  const Tensor part =
      at::constant_pad_nd(whole, {-padding[1], more[1] - padding[1], -padding[0], more[0] - padding[0]}, 0);
  return bias.defined() ? part + bias.reshape({-1, 1, 1}) : part;
}

// Moves [N, depths, numbers], made by one depth of the kernel, to their places along the result's depth.
Tensor at_depth(const Tensor& x, int64_t stride, int64_t offset, int64_t depth) {
  const Tensor apart = spread(x, 1, stride);
  return at::constant_pad_nd(apart, {0, 0, offset, depth - offset - apart.size(1)}, 0);
}

// Returns the weight with zeros for its dilation, and with zeros after its end if output_padding is larger than
// padding. Changes `conv` accordingly.
Tensor with_zeros(Tensor weight, Transposed& conv) {
  std::vector<int64_t> sides;
  for (size_t i = 0; i < 2; ++i) {
    weight = spread(weight, 2 + static_cast<int64_t>(i), conv.dilation[i]);
    const int64_t kept = std::min({conv.output_padding[i], conv.padding[i], conv.stride[i] - 1});
    const int64_t extra = conv.output_padding[i] - kept;
    conv.output_padding[i] = kept;
    sides.insert(sides.begin(), {0, extra});
  }
  conv.dilation = {1, 1};
  const bool is_same = std::all_of(sides.begin(), sides.end(), [](int64_t side) { return side == 0; });
  return is_same ? weight : at::constant_pad_nd(weight, sides, 0);
}

Tensor in_groups(const Tensor& x, const Tensor& weight, const Tensor& bias, Transposed conv) {
  const int64_t groups = conv.groups;
  conv.groups = 1;
  if (groups == 1) return plane_convolution(x, weight, bias, conv);
  const auto inputs = at::chunk(x, groups, x.dim() - 3);
  const auto weights = at::chunk(weight, groups, 0);
  std::vector<Tensor> results;
  for (size_t i = 0; i < inputs.size(); ++i) results.push_back(plane_convolution(inputs[i], weights[i], {}, conv));
  const Tensor joined = at::cat(results, x.dim() - 3);
  return bias.defined() ? joined + bias.reshape({-1, 1, 1}) : joined;
}

// Computes a 2-D convolution with computed weights, of which the rule takes neither dilation nor groups.
Tensor computed_plane_convolution(const Tensor& x, const Tensor& weight, Transposed conv) {
  const Tensor whole = with_zeros(weight, conv);
  return in_groups(x, whole, {}, conv);
}

// Computes a transposed 3-D convolution. A 2-D one of all planes gives the share of each depth of the kernel; the
// shares are moved to their places and summed up.
Tensor volume_convolution(const Tensor& x, const Tensor& weight, const Transposed& conv, bool is_computed) {
  const int64_t batch = x.size(0), depth = x.size(2), kernel = weight.size(2), outputs = weight.size(1);
  const Tensor planes = x.permute({0, 2, 1, 3, 4}).reshape({batch * depth, x.size(1), x.size(3), x.size(4)});
  const Tensor filters =
      weight.permute({0, 2, 1, 3, 4}).reshape({weight.size(0), kernel * outputs, weight.size(3), weight.size(4)});
  const Transposed plane{without_first(conv.stride), without_first(conv.padding), without_first(conv.output_padding),
                         without_first(conv.dilation), conv.groups};
  const Tensor added =
      is_computed ? computed_plane_convolution(planes, filters, plane) : plane_convolution(planes, filters, {}, plane);
  const int64_t height = added.size(2), width = added.size(3), channels = outputs * conv.groups;
  const Tensor by_depth = added.reshape({batch * depth, conv.groups, kernel, outputs * height * width});
  const int64_t result_depth =
      (depth - 1) * conv.stride[0] - 2 * conv.padding[0] + conv.dilation[0] * (kernel - 1) + conv.output_padding[0] + 1;
  Tensor sum;
  for (int64_t k = 0; k < kernel; ++k) {
    const Tensor part = by_depth.select(2, k).reshape({batch, depth, channels * height * width});
    const Tensor moved = at_depth(part, conv.stride[0], k * conv.dilation[0] - conv.padding[0], result_depth);
    sum = sum.defined() ? sum + moved : moved;
  }
  return sum.reshape({batch, result_depth, channels, height, width}).permute({0, 2, 1, 3, 4});
}

template <bool is_computed>
std::vector<Formed> transposed_volume(const FormulaArguments& args) {
  const Tensor input = args.tensor("input"), weight = args.tensor("weight");
  const bool is_single = input.dim() == static_cast<int64_t>(kVolumeAxes) + 1;
  const Tensor x = is_single ? input.unsqueeze(0) : input;
  Tensor result = volume_convolution(x, weight, read_transposed(args, kVolumeAxes), is_computed);
  if (!args.is_none("bias")) {
    const Tensor bias = args.tensor("bias");
    result = result + (bias.numel() == 1 ? bias : bias.reshape({-1, 1, 1, 1}));
  }
  return {is_single ? result.squeeze(0) : result};
}

// Returns the arguments of a 1-D convolution as those of a 2-D one: a sequence is an image of height 1.
Transposed as_image(const Transposed& conv) {
  Transposed image = conv;
  image.stride.insert(image.stride.begin(), 1);
  image.padding.insert(image.padding.begin(), 0);
  image.output_padding.insert(image.output_padding.begin(), 0);
  image.dilation.insert(image.dilation.begin(), 1);
  return image;
}

std::vector<Formed> transposed_plane(const FormulaArguments& args) {
  Tensor x = args.tensor("input"), weight = args.tensor("weight");
  const bool is_sequence = weight.dim() == 3;
  Transposed conv = read_transposed(args, is_sequence ? 1 : 2);
  if (is_sequence) {
    conv = as_image(conv);
    x = x.unsqueeze(-2);
    weight = weight.unsqueeze(-2);
  }
  weight = with_zeros(weight, conv);
  const Tensor result = in_groups(x, weight, args.optional("bias"), conv);
  return {is_sequence ? result.squeeze(-2) : result};
}

bool is_transposed(const OpArguments& args) {
  return !args.has("transposed") || args.boolean("transposed");
}

bool is_float_volume(const OpArguments& args) {
  return args.tensor("weight").rank() == kVolumeAxes + 2 && args.tensor("input").dtype == at::kFloat;
}

bool is_transposed_volume(const OpArguments& args) {
  return is_transposed(args) && is_float_volume(args) && args.is_constant("weight");
}

bool is_computed_transposed_volume(const OpArguments& args) {
  return is_transposed(args) && is_float_volume(args) && !args.is_constant("weight");
}

bool is_computed_volume_in_groups(const OpArguments& args) {
  const bool is_forward = !args.has("transposed") || !args.boolean("transposed");
  return is_forward && is_float_volume(args) && args.integer("groups") > 1 && !args.is_constant("weight");
}

// Convolves each group of a volume by itself.
std::vector<Formed> volume_in_groups(const FormulaArguments& args) {
  const Tensor x = args.tensor("input"), weight = args.tensor("weight");
  const std::vector<int64_t> ones(kVolumeAxes, 1), zeros(kVolumeAxes, 0);
  const auto stride = args.integers("stride", kVolumeAxes, ones),
             padding = args.integers("padding", kVolumeAxes, zeros),
             dilation = args.integers("dilation", kVolumeAxes, ones);
  const int64_t groups = args.integer("groups"), channels = x.dim() - static_cast<int64_t>(kVolumeAxes) - 1;
  const auto inputs = at::chunk(x, groups, channels);
  const auto weights = at::chunk(weight, groups, 0);
  std::vector<Tensor> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    results.push_back(at::conv3d(inputs[i], weights[i], {}, stride, padding, dilation, 1));
  }
  const Tensor joined = at::cat(results, channels);
  const Tensor bias = args.optional("bias");
  return {bias.defined() ? joined + bias.reshape({-1, 1, 1, 1}) : joined};
}

// True for a 2-D transposed convolution that the rule doesn't take: it writes zeros into constant weights only.
bool is_transposed_plane(const OpArguments& args) {
  const Dims weight = args.tensor("weight").dims;
  const size_t spatial = weight.size() - 2;
  if (!is_transposed(args) || spatial > 2 || args.tensor("input").dtype != at::kFloat || !all_fixed(weight))
    return false;
  const auto dilation = args.integers("dilation", spatial, 1), padding = args.integers("padding", spatial, 0);
  const auto output_padding = args.integers("output_padding", spatial, 0);
  bool needs_zeros = args.integer("groups") > 1, has_wide = false;
  for (size_t i = 0; i < spatial; ++i) {
    needs_zeros = needs_zeros || dilation[i] != 1 || output_padding[i] > padding[i];
    has_wide = has_wide || is_wide(padding[i], weight[2 + i].value(), dilation[i]);
  }
  return has_wide || (needs_zeros && !args.is_constant("weight"));
}

}  // namespace

Formulas convolution_formulas() {
  return {
      {"aten::conv_transpose3d.input", is_transposed_volume, transposed_volume<false>},
      {"aten::_convolution", is_transposed_volume, transposed_volume<false>},
      {"aten::_convolution.deprecated", is_transposed_volume, transposed_volume<false>},
      {"aten::conv_transpose3d.input", is_computed_transposed_volume, transposed_volume<true>},
      {"aten::_convolution", is_computed_transposed_volume, transposed_volume<true>},
      {"aten::_convolution.deprecated", is_computed_transposed_volume, transposed_volume<true>},
      {"aten::conv3d", is_computed_volume_in_groups, volume_in_groups},
      {"aten::_convolution", is_computed_volume_in_groups, volume_in_groups},
      {"aten::_convolution.deprecated", is_computed_volume_in_groups, volume_in_groups},
      {"aten::conv_transpose1d", is_transposed_plane, transposed_plane},
      {"aten::conv_transpose2d.input", is_transposed_plane, transposed_plane},
      {"aten::_convolution", is_transposed_plane, transposed_plane},
      {"aten::_convolution.deprecated", is_transposed_plane, transposed_plane},
  };
}

}  // namespace nnapi_convert
