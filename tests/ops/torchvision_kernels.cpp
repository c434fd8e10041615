// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/torchvision_kernels.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "lib/converter/load/custom_operators.h"

namespace nnapi_convert {
namespace {

// The map [height, width] at a point: 0 further than one cell outside.
float value_at(const at::TensorAccessor<float, 2>& map, float y, float x) {
  const int64_t height = map.size(0), width = map.size(1);
  if (y < -1 || x < -1 || y > static_cast<float>(height) || x > static_cast<float>(width)) return 0;
  y = std::clamp(y, 0.0f, static_cast<float>(height - 1));
  x = std::clamp(x, 0.0f, static_cast<float>(width - 1));
  const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const float down = y - static_cast<float>(top), across = x - static_cast<float>(left);
  const float upper = map[top][left] * (1 - across) + map[top][right] * across;
  const float lower = map[bottom][left] * (1 - across) + map[bottom][right] * across;
  return upper * (1 - down) + lower * down;
}

struct Side {
  float begin, bin;
  int64_t samples;

  float sample(int64_t index, int64_t number) const {
    return begin +
           bin * (static_cast<float>(index) + (static_cast<float>(number) + 0.5f) / static_cast<float>(samples));
  }
};

Side side(float first, float last, double scale, int64_t bins, int64_t ratio, bool aligned) {
  const float shift = aligned ? 0.5f : 0.0f;
  const float begin = first * static_cast<float>(scale) - shift;
  float size = last * static_cast<float>(scale) - shift - begin;
  if (!aligned) size = std::max(size, 1.0f);
  const float bin = size / static_cast<float>(bins);
  return {begin, bin, ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(bin))};
}

float mean_of_bin(const at::TensorAccessor<float, 2>& map, const Side& y, const Side& x, int64_t row, int64_t column) {
  float sum = 0;
  for (int64_t i = 0; i < y.samples; ++i) {
    for (int64_t j = 0; j < x.samples; ++j) sum += value_at(map, y.sample(row, i), x.sample(column, j));
  }
  return sum / static_cast<float>(std::max<int64_t>(y.samples * x.samples, 1));
}

at::Tensor roi_align(const at::Tensor& input, const at::Tensor& rois, double scale, int64_t height, int64_t width,
                     int64_t ratio, bool aligned) {
  const at::Tensor maps = input.contiguous();
  at::Tensor result = at::empty({rois.size(0), input.size(1), height, width}, input.options());
  const auto region = rois.accessor<float, 2>();
  for (int64_t k = 0; k < rois.size(0); ++k) {
    const Side y = side(region[k][2], region[k][4], scale, height, ratio, aligned);
    const Side x = side(region[k][1], region[k][3], scale, width, ratio, aligned);
    for (int64_t c = 0; c < input.size(1); ++c) {
      const auto map = maps.accessor<float, 4>()[static_cast<int64_t>(region[k][0])][c];
      auto out = result.accessor<float, 4>()[k][c];
      for (int64_t row = 0; row < height; ++row) {
        for (int64_t column = 0; column < width; ++column) out[row][column] = mean_of_bin(map, y, x, row, column);
      }
    }
  }
  return result;
}

// The cells of a bin, as far as they are in the map.
std::pair<int64_t, int64_t> cells_of_bin(float first, float last, double scale, int64_t bins, int64_t bin,
                                         int64_t cells) {
  const auto begin = static_cast<int64_t>(std::round(first * static_cast<float>(scale)));
  const auto end = static_cast<int64_t>(std::round(last * static_cast<float>(scale)));
  const float size = static_cast<float>(std::max<int64_t>(end - begin + 1, 1)) / static_cast<float>(bins);
  const auto from = begin + static_cast<int64_t>(std::floor(size * static_cast<float>(bin)));
  const auto to = begin + static_cast<int64_t>(std::ceil(size * static_cast<float>(bin + 1)));
  return {std::clamp<int64_t>(from, 0, cells), std::clamp<int64_t>(to, 0, cells)};
}

std::tuple<at::Tensor, at::Tensor> roi_pool(const at::Tensor& input, const at::Tensor& rois, double scale,
                                            int64_t height, int64_t width) {
  at::Tensor result = at::zeros({rois.size(0), input.size(1), height, width}, input.options());
  const auto region = rois.accessor<float, 2>();
  for (int64_t k = 0; k < rois.size(0); ++k) {
    const at::Tensor map = input[static_cast<int64_t>(region[k][0])];
    for (int64_t row = 0; row < height; ++row) {
      const auto [top, bottom] = cells_of_bin(region[k][2], region[k][4], scale, height, row, map.size(1));
      for (int64_t column = 0; column < width; ++column) {
        const auto [left, right] = cells_of_bin(region[k][1], region[k][3], scale, width, column, map.size(2));
        if (bottom <= top || right <= left) continue;
        const at::Tensor cells = map.slice(1, top, bottom).slice(2, left, right);
        result[k].select(1, row).select(1, column).copy_(cells.amax({1, 2}));
      }
    }
  }
  return {result, at::zeros(result.sizes(), at::kInt)};
}

}  // namespace

void register_torchvision_kernels() {
  declare_custom_operators();
  static torch::Library* const library = [] {
    auto* made = new torch::Library(torch::Library::IMPL, "torchvision", c10::DispatchKey::CPU, __FILE__, __LINE__);
    made->impl("roi_align", &roi_align);
    made->impl("roi_pool", &roi_pool);
    return made;
  }();
  (void)library;
}

}  // namespace nnapi_convert
