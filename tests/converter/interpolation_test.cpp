// SPDX-License-Identifier: BSD-3-Clause
// Weights of interpolation are those of ATen's kernels, to the rounding of one weight: far into a large picture, a
// source position that was computed in float is off by tens of millionths.
#include "lib/ops/interpolation.h"
#include "lib/converter/graph/release.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

namespace nnapi_convert {
namespace {

// Returns the weight of each source cell in each output cell, computed by ATen: [output, input].
at::Tensor weights_of_aten(int64_t input, int64_t output, bool align_corners, bool is_cubic) {
  const at::Tensor cells = at::eye(input);
  if (!is_cubic) return at::upsample_linear1d(cells.unsqueeze(0), {output}, align_corners).squeeze(0).t();
  return at::upsample_bicubic2d(cells.reshape({1, input, 1, input}), {1, output}, align_corners)
      .reshape({input, output})
      .t();
}

// LibTorch 2 rounds the places of cells otherwise.
constexpr float kLinearError = kIsAndroidsRelease ? 2e-7F : 5e-5F, kCubicError = kIsAndroidsRelease ? 3e-6F : 5e-5F;

}  // namespace

TEST_CASE("weights are ATen's") {
  const bool align_corners = GENERATE(false, true);
  const auto sizes = GENERATE(table<int64_t, int64_t>({{640, 800}, {640, 601}, {7, 1000}, {1000, 7}, {31, 62}}));
  const auto [input, output] = sizes;
  CAPTURE(input, output, align_corners);
  const ResizedAxis axis{Dim(input), Dim(output), std::nullopt, align_corners};
  const at::Tensor linear = interpolation_matrix(axis, Interpolation::kLinear);
  CHECK((linear - weights_of_aten(input, output, align_corners, false)).abs().max().item<float>() <= kLinearError);
  const at::Tensor cubic = interpolation_matrix(axis, Interpolation::kCubic);
  CHECK((cubic - weights_of_aten(input, output, align_corners, true)).abs().max().item<float>() <= kCubicError);
}

}  // namespace nnapi_convert
