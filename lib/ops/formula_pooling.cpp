// SPDX-License-Identifier: BSD-3-Clause
// Pools that give the places of their maxima, their inverse, and pools of uneven bins of volumes. A pool goes over one
// axis after the other, with the cells of each window side by side; of equal maxima the first is taken.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/formulas.h"
#include "lib/ops/pooling.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// For each window, the cells of an axis that it covers: as many for all windows, by repeating the last cell.
using Windows = std::vector<std::vector<int64_t>>;

void make_rectangular(Windows& windows) {
  size_t longest = 0;
  for (const auto& cells : windows) longest = std::max(longest, cells.size());
  for (auto& cells : windows) {
    if (cells.empty()) throw FormulaRefused("a window that sees nothing but padding", "windows with a cell at least");
    cells.resize(longest, cells.back());
  }
}

struct Sliding {
  int64_t kernel, stride, padding, dilation;
};

Windows sliding_windows(int64_t size, int64_t count, const Sliding& sliding) {
  Windows windows(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < sliding.kernel; ++k) {
      const int64_t cell = i * sliding.stride - sliding.padding + k * sliding.dilation;
      if (cell >= 0 && cell < size) windows[static_cast<size_t>(i)].push_back(cell);
    }
  }
  make_rectangular(windows);
  return windows;
}

Windows adaptive_windows(int64_t size, int64_t count) {
  Windows windows(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t end = ((i + 1) * size + count - 1) / count;
    for (int64_t cell = i * size / count; cell < end; ++cell) windows[static_cast<size_t>(i)].push_back(cell);
  }
  make_rectangular(windows);
  return windows;
}

std::vector<int64_t> flattened(const Windows& windows) {
  std::vector<int64_t> cells;
  for (const auto& window : windows) cells.insert(cells.end(), window.begin(), window.end());
  return cells;
}

constexpr int64_t kMostPlaces = int64_t{1} << 24;  // whole numbers that a float32 holds

// Values, and the place of each among the elements of its image. Places are float32: NNAPI adds no integers below level
// 4.
struct Pooled {
  Tensor values, places;
};

// Returns the windows of an axis as [before, windows, cells, after].
Tensor in_windows(const Tensor& x, int64_t axis, const Windows& windows, const Tensor& cells) {
  const auto sizes = x.sizes();
  const int64_t before = c10::multiply_integers(sizes.slice(0, static_cast<size_t>(axis)));
  const int64_t after = c10::multiply_integers(sizes.slice(static_cast<size_t>(axis) + 1));
  const auto count = static_cast<int64_t>(windows.size()), length = static_cast<int64_t>(windows[0].size());
  return x.reshape({before, sizes[static_cast<size_t>(axis)], after})
      .index_select(1, cells)
      .reshape({before, count, length, after});
}

// Pools along one axis. `unit` is the distance of the axis's neighbouring cells among the image's elements. The last
// axis comes first; `input` has no places then.
Pooled pool_axis(const Pooled& input, int64_t axis, const Windows& windows, int64_t unit) {
  const Tensor cells = constant_of(flattened(windows));
  std::vector<int64_t> sizes = input.values.sizes().vec();
  sizes[static_cast<size_t>(axis)] = static_cast<int64_t>(windows.size());
  const Tensor values = in_windows(input.values, axis, windows, cells);
  const auto [greatest, which] = at::max(values, 2);
  const Tensor first = constant_of([&] {
    const auto count = static_cast<int64_t>(windows.size());
    return (at::arange(count) * static_cast<int64_t>(windows[0].size())).reshape({1, count, 1}).to(at::kFloat);
  });
  const Tensor steps = constant_of([&] { return (cells * unit).to(at::kFloat); });
  const Tensor chosen = (which.to(at::kFloat) + first).reshape({-1}).to(at::kLong);
  Tensor places = steps.index_select(0, chosen).reshape(which.sizes());
  if (input.places.defined()) {
    places = places + at::gather(in_windows(input.places, axis, windows, cells), 2, which.unsqueeze(2)).squeeze(2);
  }
  return {greatest.reshape(sizes), places.reshape(sizes)};
}

std::vector<Formed> pool(const Tensor& self, const std::vector<Windows>& windows) {
  Pooled pooled{self, {}};
  int64_t unit = 1;
  for (size_t i = windows.size(); i-- > 0;) {
    const int64_t axis = self.dim() - static_cast<int64_t>(windows.size() - i);
    const int64_t size = self.size(axis);
    pooled = pool_axis(pooled, axis, windows[i], unit);
    unit *= size;
  }
  if (unit > kMostPlaces) throw FormulaRefused(fmt::format("{} places", unit), fmt::format("{} at most", kMostPlaces));
  return {pooled.values, pooled.places.to(at::kLong)};
}

int64_t sliding_count(int64_t size, const Sliding& sliding, bool ceil_mode) {
  const int64_t reach = sliding.dilation * (sliding.kernel - 1) + 1;
  const int64_t room = size + 2 * sliding.padding - reach + (ceil_mode ? sliding.stride - 1 : 0);
  int64_t count = room / sliding.stride + 1;
  if (ceil_mode && (count - 1) * sliding.stride >= size + sliding.padding) --count;
  return count;
}

// Refuses everything but an image with elements and at least `spatial` axes behind its channels.
void require_image(const Tensor& self, size_t spatial) {
  if (self.dim() > static_cast<int64_t>(spatial) && self.numel() > 0) return;
  throw FormulaRefused(fmt::format("a tensor of rank {} with {} elements", self.dim(), self.numel()),
                       fmt::format("rank {} or more, and elements", spatial + 1));
}

void require_positive(const char* name, const std::vector<int64_t>& numbers, size_t count) {
  const bool holds = std::all_of(numbers.begin(), numbers.end(), [](int64_t number) { return number > 0; });
  if (holds && numbers.size() == count) return;
  throw FormulaRefused(fmt::format("{} = {}", name, fmt::join(numbers, ", ")), "1 or more for each axis");
}

template <size_t spatial>
std::vector<Formed> max_pool_with_indices(const FormulaArguments& args) {
  const Tensor self = args.tensor("self");
  const std::vector<int64_t> ones(spatial, 1), zeros(spatial, 0);
  const std::vector<int64_t> kernel = args.integers("kernel_size", spatial, ones);
  const std::vector<int64_t> stride = args.integers("stride", spatial, kernel);
  const std::vector<int64_t> padding = args.integers("padding", spatial, zeros);
  const std::vector<int64_t> dilation = args.integers("dilation", spatial, ones);
  require_image(self, spatial);
  require_positive("kernel_size", kernel, spatial);
  require_positive("stride", stride, spatial);
  require_positive("dilation", dilation, spatial);
  std::vector<Windows> windows;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = self.size(self.dim() - static_cast<int64_t>(spatial - i));
    const Sliding sliding{kernel[i], stride[i], padding[i], dilation[i]};
    windows.push_back(sliding_windows(size, sliding_count(size, sliding, args.boolean("ceil_mode")), sliding));
  }
  return pool(self, windows);
}

// Returns the bins of an adaptive pool, for an image of `spatial` axes behind its channels.
std::vector<int64_t> bins_of(const FormulaArguments& args, size_t spatial) {
  const Tensor self = args.tensor("self");
  const std::vector<int64_t> bins = args.integers("output_size", spatial, {});
  require_positive("output_size", bins, spatial);
  require_image(self, spatial);
  return bins;
}

template <size_t spatial>
std::vector<Windows> adaptive_windows_of(const FormulaArguments& args) {
  const Tensor self = args.tensor("self");
  const std::vector<int64_t> wanted = bins_of(args, spatial);
  std::vector<Windows> windows;
  for (size_t i = 0; i < spatial; ++i) {
    windows.push_back(adaptive_windows(self.size(self.dim() - static_cast<int64_t>(spatial - i)), wanted[i]));
  }
  return windows;
}

template <size_t spatial>
std::vector<Formed> adaptive_max_pool(const FormulaArguments& args) {
  return pool(args.tensor("self"), adaptive_windows_of<spatial>(args));
}

bool gives_places(const OpArguments& args) {
  return args.tensor("self").dtype == at::kFloat && !args.node().output(1)->uses().empty();
}

// True if the bins of depth, height or width have several sizes, which the rule doesn't take.
bool has_uneven_bins(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const std::vector<int64_t> wanted = args.integers("output_size", 3, 1);
  if (self.rank() <= wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim& size = self.dims[self.rank() - wanted.size() + i];
    if (!size.is_fixed() || wanted[i] < 1) return false;
    if (!even_window(size.value(), wanted[i])) return self.dtype == at::kFloat;
  }
  return false;
}

std::vector<Formed> adaptive_average_volume(const FormulaArguments& args) {
  Tensor x = args.tensor("self");
  const std::vector<int64_t> wanted = bins_of(args, 3);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t axis = x.dim() - 3 + i, size = x.size(axis), count = wanted[static_cast<size_t>(i)];
    if (size == count) continue;
    std::vector<Tensor> bins;
    for (int64_t bin = 0; bin < count; ++bin) {
      const int64_t begin = bin * size / count, end = ((bin + 1) * size + count - 1) / count;
      bins.push_back(x.narrow(axis, begin, end - begin).mean({axis}, true));
    }
    x = at::cat(bins, axis);
  }
  return {x};
}

// avg_pool3d with divisor_override: divides sums of windows by one number. The zeros around the image, also those that
// windows of ceil_mode reach, are added as cells.
std::vector<Formed> average_volume_over(const FormulaArguments& args) {
  const Tensor self = args.tensor("self");
  const std::vector<int64_t> kernel = args.integers("kernel_size", 3, {}),
                             padding = args.integers("padding", 3, {0, 0, 0});
  const std::vector<int64_t> stride = args.integers("stride", 3, kernel);
  std::vector<int64_t> sides;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t size = self.size(self.dim() - 3 + static_cast<int64_t>(i));
    const int64_t count = sliding_count(size, {kernel[i], stride[i], padding[i], 1}, args.boolean("ceil_mode"));
    const int64_t reached = (count - 1) * stride[i] + kernel[i] - padding[i];
    sides.insert(sides.begin(), {padding[i], std::max<int64_t>(0, reached - size)});
  }
  const Tensor room = at::constant_pad_nd(self, sides, 0);
  const auto cells = static_cast<double>(c10::multiply_integers(kernel));
  return {at::avg_pool3d(room, kernel, stride) * (cells / static_cast<double>(args.integer("divisor_override")))};
}

bool has_divisor(const OpArguments& args) {
  return args.tensor("self").dtype == at::kFloat && !args.is_none("divisor_override") &&
         args.integer("divisor_override") != 0;
}

// max_unpool: each cell of the result is the last value whose place it is, or 0. Compares all cells with all places.
std::vector<Formed> max_unpool(const FormulaArguments& args) {
  constexpr int64_t kMostComparisons = 1 << 22;
  const Tensor self = args.tensor("self"), indices = args.tensor("indices");
  const std::vector<int64_t> size = args.integers("output_size");
  const auto axes = static_cast<int64_t>(size.size());
  require_positive("output_size", size, size.size());
  require_image(self, size.size());
  const int64_t cells = c10::multiply_integers(size);
  const int64_t inputs = c10::multiply_integers(self.sizes().slice(static_cast<size_t>(self.dim() - axes)));
  const int64_t planes = self.numel() / inputs;
  if (planes * inputs * cells > kMostComparisons) {
    throw FormulaRefused(fmt::format("{} values, each at one of {} places", planes * inputs, cells),
                         fmt::format("at most {} values times places", kMostComparisons),
                         "NNAPI writes to no computed places: upsample instead, or leave it to the CPU");
  }
  const Tensor values = self.reshape({planes, inputs});
  const Tensor all = constant_of([&] { return at::arange(cells, at::TensorOptions(at::kLong)); });
  const Tensor numbers =
      constant_of([&] { return at::arange(1, inputs + 1, at::TensorOptions(at::kFloat)).unsqueeze(1); });
  const Tensor hits = at::eq(indices.reshape({planes, inputs, 1}), all).to(at::kFloat);
  const Tensor last = (hits * numbers).amax({1}).to(at::kLong);
  const Tensor with_zero = at::constant_pad_nd(values, {1, 0}, 0);
  std::vector<int64_t> sizes = self.sizes().vec();
  std::copy(size.begin(), size.end(), sizes.end() - axes);
  return {at::gather(with_zero, 1, last).reshape(sizes)};
}

}  // namespace

Formulas pooling_formulas() {
  return {
      {"aten::max_pool1d_with_indices", gives_places, max_pool_with_indices<1>},
      {"aten::max_pool2d_with_indices", gives_places, max_pool_with_indices<2>},
      {"aten::max_pool3d_with_indices", nullptr, max_pool_with_indices<3>},
      {"aten::adaptive_max_pool1d", gives_places, adaptive_max_pool<1>},
      {"aten::adaptive_max_pool2d", gives_places, adaptive_max_pool<2>},
      {"aten::adaptive_max_pool3d", gives_places, adaptive_max_pool<3>},
      {"aten::adaptive_max_pool3d", has_uneven_bins, adaptive_max_pool<3>},
      {"aten::adaptive_avg_pool3d", has_uneven_bins, adaptive_average_volume},
      {"aten::avg_pool3d", has_divisor, average_volume_over},
      {"aten::max_unpool2d", nullptr, max_unpool},
      {"aten::max_unpool3d", nullptr, max_unpool},
  };
}

}  // namespace nnapi_convert
