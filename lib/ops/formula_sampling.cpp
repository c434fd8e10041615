// SPDX-License-Identifier: BSD-3-Clause
// Volumes resized, and images and volumes read at computed places: their pixels are the rows of a table.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "lib/ops/formulas.h"
#include "lib/ops/frames.h"
#include "lib/ops/interpolation.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

std::vector<ResizedAxis> read_axes(const FormulaArguments& args, const Tensor& input) {
  std::vector<ResizedAxis> axes;
  const bool has_size = !args.is_none("output_size");
  const std::array<const char*, kVolumeAxes> names{"scales_d", "scales_h", "scales_w"};
  for (size_t i = 0; i < kVolumeAxes; ++i) {
    ResizedAxis axis;
    const int64_t size = input.size(2 + static_cast<int64_t>(i));
    axis.input = Dim(size);
    if (!args.is_none("scale_factors")) axis.factor = args.value("scale_factors").toDoubleVector().at(i);
    if (!args.is_none(names[i])) axis.factor = args.number(names[i]);
    axis.output = has_size ? Dim(args.integers("output_size").at(i))
                           : Dim(static_cast<int64_t>(std::floor(static_cast<double>(size) * axis.factor.value())));
    axis.align_corners = args.has("align_corners") && args.boolean("align_corners");
    axes.push_back(axis);
  }
  return axes;
}

c10::optional<double> factor_of(const ResizedAxis& axis) {
  return axis.factor ? c10::optional<double>(*axis.factor) : c10::nullopt;
}

// Resizes [rows, cells, numbers] along the cells: each result lies between two neighbours.
Tensor between_neighbours(const Tensor& x, const ResizedAxis& axis) {
  const int64_t last = axis.input.value() - 1;
  std::vector<int64_t> lower, upper;
  std::vector<float> shares;
  const auto step = static_cast<double>(axis.step());
  for (int64_t i = 0; i < axis.output.value(); ++i) {
    const auto cell = static_cast<double>(i);
    const double place = axis.align_corners ? step * cell : std::max(step * (cell + 0.5) - 0.5, 0.0);
    const auto low = static_cast<int64_t>(std::floor(place));
    lower.push_back(std::min(low, last));
    upper.push_back(std::min(low + 1, last));
    shares.push_back(static_cast<float>(place - static_cast<double>(low)));
  }
  const Tensor share = constant_of([&] { return at::tensor(shares).unsqueeze(1); });
  const Tensor rest = constant_of([&] { return 1 - share; });
  return x.index_select(1, constant_of(lower)) * rest + x.index_select(1, constant_of(upper)) * share;
}

// Resizes a volume: height and width of all planes, then the depth.
std::vector<Formed> linear_volume(const FormulaArguments& args) {
  const Tensor input = args.first().real;
  const std::vector<ResizedAxis> axes = read_axes(args, input);
  const int64_t batch = input.size(0), channels = input.size(1), depth = input.size(2);
  const int64_t height = axes[1].output.value(), width = axes[2].output.value();
  Tensor x = input.permute({0, 2, 1, 3, 4}).reshape({batch * depth, channels, input.size(3), input.size(4)});
  if (input.size(3) != height || input.size(4) != width) {
    x = at::upsample_bilinear2d(x, {height, width}, axes[1].align_corners, factor_of(axes[1]), factor_of(axes[2]));
  }
  x = x.reshape({batch, depth, channels * height * width});
  if (axes[0].input != axes[0].output) x = between_neighbours(x, axes[0]);
  return {x.reshape({batch, axes[0].output.value(), channels, height, width}).permute({0, 2, 1, 3, 4})};
}

// Picks cells along one axis; the other axes are joined, as NNAPI takes four at most.
Tensor along_axis(const Tensor& x, int64_t axis, const std::vector<int64_t>& cells) {
  std::vector<int64_t> sizes = x.sizes().vec();
  const auto place = static_cast<size_t>(axis);
  const Tensor rows = x.reshape({c10::multiply_integers(x.sizes().slice(0, place)), sizes[place], -1});
  sizes[place] = static_cast<int64_t>(cells.size());
  return rows.index_select(1, constant_of(cells)).reshape(sizes);
}

template <Interpolation interpolation>
std::vector<Formed> nearest_volume(const FormulaArguments& args) {
  Tensor x = args.first().real;
  const std::vector<ResizedAxis> axes = read_axes(args, x);
  for (size_t i = 0; i < kVolumeAxes; ++i) {
    const std::vector<int64_t> cells = nearest_cells(axes[i], interpolation, axes[i].step());
    if (axes[i].input != axes[i].output) x = along_axis(x, 2 + static_cast<int64_t>(i), cells);
  }
  return {x};
}

enum Mode { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum Border { kZeros = 0, kClamped = 1, kReflected = 2 };

struct Sampling {
  int64_t mode, border;
  bool align_corners;
};

// Turns coordinates from -1 to 1 into pixels.
Tensor to_pixels(const Tensor& grid, double size, bool align_corners) {
  return align_corners ? (grid + 1) * 0.5 * (size - 1) : ((grid + 1) * size - 1) * 0.5;
}

// Reflects a place between two mirrors, which lie at half of `twice_low` and half of `twice_high`.
Tensor reflected(const Tensor& place, double twice_low, double twice_high) {
  if (twice_low == twice_high) return place * 0;
  const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
  const Tensor far = at::abs(place - low);
  const Tensor flips = at::floor(far * (1 / span));
  const Tensor extra = far - flips * span;
  const Tensor is_odd = flips - at::floor(flips * 0.5) * 2;
  return extra + is_odd * (span - extra * 2) + low;
}

Tensor into_border(const Tensor& place, double size, const Sampling& sampling) {
  if (sampling.border == kZeros) return place;
  Tensor inside = place;
  if (sampling.border == kReflected) {
    inside = sampling.align_corners ? reflected(place, 0, 2 * (size - 1)) : reflected(place, -1, 2 * size - 1);
  }
  return at::clamp(inside, 0, size - 1);
}

// A pixel that is read along one axis, and its weight.
struct Tap {
  Tensor pixel, weight;
};

// Returns the pixel and weight of a tap. With padding by zeros, a tap outside the image has weight 0.
Tap tap_at(const Tensor& place, const Tensor& weight, double size, const Sampling& sampling) {
  const Tensor pixel = at::clamp(place, 0, size - 1);
  if (sampling.border != kZeros) return {pixel, weight};
  return {pixel, weight * (1 - at::clamp_max(at::abs(place - pixel), 1))};
}

// Returns the weight of a pixel at a distance, by PyTorch's cubic with a = -0.75; `is_near`: the distance is at most 1.
Tensor cubic_weight(const Tensor& distance, bool is_near) {
  constexpr double a = -0.75;
  if (is_near) return ((distance * (a + 2) - (a + 3)) * distance) * distance + 1;
  return ((distance * a - 5 * a) * distance + 8 * a) * distance - 4 * a;
}

std::vector<Tap> taps_of(const Tensor& grid, double size, const Sampling& sampling) {
  const Tensor place = to_pixels(grid, size, sampling.align_corners);
  if (sampling.mode == kNearest) {
    const Tensor nearest = at::round(into_border(place, size, sampling));
    return {tap_at(nearest, constant_of([] { return at::ones({1}); }), size, sampling)};
  }
  std::vector<Tap> taps;
  if (sampling.mode == kBilinear) {
    const Tensor inside = into_border(place, size, sampling);
    const Tensor low = at::floor(inside);
    const Tensor share = inside - low;
    taps.push_back(tap_at(low, 1 - share, size, sampling));
    taps.push_back(tap_at(low + 1, share, size, sampling));
    return taps;
  }
  const Tensor low = at::floor(place);
  const Tensor share = place - low;
  const std::array<Tensor, 4> weights{cubic_weight(share + 1, false), cubic_weight(share, true),
                                      cubic_weight(1 - share, true), cubic_weight(2 - share, false)};
  for (int64_t i = 0; i < 4; ++i) {
    const Tensor pixel = into_border(low + static_cast<double>(i - 1), size, sampling);
    taps.push_back(tap_at(pixel, weights[static_cast<size_t>(i)], size, sampling));
  }
  return taps;
}

// Adds the weighted pixels at all combinations of the axes' taps, from the first axis on.
void add_taps(const std::vector<std::vector<Tap>>& axes, size_t axis, const Tensor& row, const Tensor& weight,
              const Tensor& input, const Tensor& table, std::optional<Tensor>& sum) {
  if (axis == axes.size()) {
    const Tensor part = table.index_select(0, row.to(at::kLong)) * weight.unsqueeze(1);
    sum = sum ? *sum + part : part;
    return;
  }
  const auto size = static_cast<double>(input.size(2 + static_cast<int64_t>(axis)));
  for (const Tap& tap : axes[axis]) {
    add_taps(axes, axis + 1, row * size + tap.pixel, axis == 0 ? tap.weight : weight * tap.weight, input, table, sum);
  }
}

std::vector<Formed> grid_sampler(const FormulaArguments& args) {
  constexpr int64_t kMostRows = int64_t{1} << 24;  // whole numbers that a float32 holds
  const Tensor input = args.tensor("input"), grid = args.tensor("grid");
  const Sampling sampling{args.integer("interpolation_mode"), args.integer("padding_mode"),
                          args.boolean("align_corners")};
  const int64_t batch = input.size(0), channels = input.size(1), spatial = input.dim() - 2;
  const int64_t rows = input.numel() / channels, places = grid.numel() / spatial;
  if (rows > kMostRows) throw FormulaRefused(std::to_string(rows) + " pixels", std::to_string(kMostRows) + " at most");
  std::vector<int64_t> channels_last{0}, channels_first{0, spatial + 1};
  for (int64_t i = 0; i < spatial; ++i) {
    channels_last.push_back(2 + i);
    channels_first.push_back(1 + i);
  }
  channels_last.push_back(1);
  const Tensor table = input.permute(channels_last).reshape({rows, channels});
  std::vector<std::vector<Tap>> axes;
  for (int64_t i = 0; i < spatial; ++i) {  // the grid's last number belongs to the first axis
    const Tensor along = grid.select(-1, spatial - 1 - i).reshape({places});
    axes.push_back(taps_of(along, static_cast<double>(input.size(2 + i)), sampling));
  }
  const Tensor first = constant_of([&] { return at::arange(batch).repeat_interleave(places / batch).to(at::kFloat); });
  std::optional<Tensor> sum;
  add_taps(axes, 0, first, {}, input, table, sum);
  std::vector<int64_t> sizes = grid.sizes().vec();
  sizes.back() = channels;
  return {sum->reshape(sizes).permute(channels_first)};
}

bool is_float_input(const OpArguments& args) {
  const TensorType input = args.tensor("input"), grid = args.tensor("grid");
  return input.dtype == at::kFloat && grid.dtype == at::kFloat && all_fixed(input.dims) && input.rank() > 3 &&
         grid.rank() == input.rank();
}

// True for sampling that the operator's rule doesn't take.
bool is_other_sampling(const OpArguments& args) {
  const bool has_rule = args.tensor("input").rank() == 4 && args.integer("interpolation_mode") == kBilinear &&
                        args.integer("padding_mode") != kReflected;
  return is_float_input(args) && !has_rule;
}

}  // namespace

Formulas sampling_formulas() {
  return {
      {"aten::upsample_trilinear3d", nullptr, linear_volume},
      {"aten::upsample_trilinear3d.vec", nullptr, linear_volume},
      {"aten::upsample_nearest3d", nullptr, nearest_volume<Interpolation::kNearest>},
      {"aten::_upsample_nearest_exact3d", nullptr, nearest_volume<Interpolation::kNearestExact>},
      {"aten::_upsample_nearest_exact3d.vec", nullptr, nearest_volume<Interpolation::kNearestExact>},
      {"aten::grid_sampler", is_other_sampling, grid_sampler},
      {"aten::grid_sampler_2d", is_other_sampling, grid_sampler},
      {"aten::grid_sampler_3d", is_float_input, grid_sampler},
  };
}

}  // namespace nnapi_convert
