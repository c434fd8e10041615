// SPDX-License-Identifier: BSD-3-Clause
// Computes interpolation along one axis as a matrix: for each result cell, PyTorch's weights of the source cells.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "lib/base/dim.h"

namespace nnapi_convert {

enum class Interpolation { kNearest, kNearestExact, kLinear, kCubic };

// The resizing of one axis.
struct ResizedAxis {
  Dim input, output;
  std::optional<double> factor;  // the model's scale factor; nothing: output / input
  bool align_corners = false;

  bool is_fixed() const { return input.is_fixed() && output.is_fixed(); }
  // Return the distance of neighbouring result cells in the source, by `factor` or by sizes. Require is_fixed().
  float step() const;
  float step_by_sizes() const;
  // Returns output / input if that is an integer, with half-pixel centres; else 0.
  int64_t whole_growth() const;
  // Returns input / output if that is an integer, with half-pixel centres; else 0.
  int64_t whole_shrinkage() const;
};

// Returns the matrix [output, input] of an axis of fixed sizes.
at::Tensor interpolation_matrix(const ResizedAxis& axis, Interpolation interpolation);

// Returns the source cell of each result cell, for kNearest and kNearestExact with this step.
std::vector<int64_t> nearest_cells(const ResizedAxis& axis, Interpolation interpolation, float step);

}  // namespace nnapi_convert
