// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/interpolation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace nnapi_convert {
namespace {

constexpr float kCubicSharpness = -0.75F;

// The source position of a result cell, as ATen's CPU kernels compute it: in double, with a step that is a float.
double position_of(const ResizedAxis& axis, int64_t cell, bool is_cubic) {
  const double step = axis.step();
  const auto index = static_cast<double>(cell);
  if (axis.align_corners) return step * index;
  const double position = step * (index + 0.5) - 0.5;
  return is_cubic ? position : std::max(position, 0.0);
}

// Weights of the four cells around a position that is `fraction` past the second one.
std::array<float, 4> cubic_weights(float fraction) {
  const float a = kCubicSharpness;
  const auto near = [a](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(fraction + 1), near(fraction), near(1 - fraction), far(2 - fraction)};
}

}  // namespace

float ResizedAxis::step_by_sizes() const {
  const auto in = static_cast<float>(input.value());
  const auto out = static_cast<float>(output.value());
  if (!align_corners) return in / out;
  return out > 1 ? (in - 1) / (out - 1) : 0;
}

float ResizedAxis::step() const {
  if (factor && !align_corners) return static_cast<float>(1 / *factor);
  return step_by_sizes();
}

int64_t ResizedAxis::whole_growth() const {
  if (align_corners) return 0;
  const auto growth = output.exact_div(input);
  if (!growth || !growth->is_fixed()) return 0;
  return !factor || *factor == static_cast<double>(growth->value()) ? growth->value() : 0;
}

int64_t ResizedAxis::whole_shrinkage() const {
  if (align_corners) return 0;
  const auto shrinkage = input.exact_div(output);
  if (!shrinkage || !shrinkage->is_fixed()) return 0;
  return !factor || *factor * static_cast<double>(shrinkage->value()) == 1 ? shrinkage->value() : 0;
}

std::vector<int64_t> nearest_cells(const ResizedAxis& axis, Interpolation interpolation, float step) {
  const float centre = interpolation == Interpolation::kNearestExact ? 0.5F : 0.0F;
  std::vector<int64_t> cells;
  for (int64_t cell = 0; cell < axis.output.value(); ++cell) {
    const auto found = static_cast<int64_t>(std::floor((static_cast<float>(cell) + centre) * step));
    cells.push_back(std::min(found, axis.input.value() - 1));
  }
  return cells;
}

at::Tensor interpolation_matrix(const ResizedAxis& axis, Interpolation interpolation) {
  const int64_t last = axis.input.value() - 1;
  at::Tensor matrix = at::zeros({axis.output.value(), axis.input.value()});
  auto weights = matrix.accessor<float, 2>();
  for (int64_t cell = 0; cell < axis.output.value(); ++cell) {
    const double position = position_of(axis, cell, interpolation == Interpolation::kCubic);
    const auto before = static_cast<int64_t>(std::floor(position));
    const auto fraction = static_cast<float>(position - static_cast<double>(before));
    if (interpolation == Interpolation::kLinear) {
      weights[cell][std::min(before, last)] += 1 - fraction;
      weights[cell][std::min(before + 1, last)] += fraction;
      continue;
    }
    const std::array<float, 4> four = cubic_weights(fraction);
    for (int64_t i = 0; i < 4; ++i) {
      weights[cell][std::clamp<int64_t>(before - 1 + i, 0, last)] += four[static_cast<size_t>(i)];
    }
  }
  return matrix;
}

}  // namespace nnapi_convert
