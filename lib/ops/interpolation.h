// Interpolation along one axis as a matrix: the weights that PyTorch gives to the source's cells for each result cell.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "lib/base/dim.h"

namespace nnapi_convert {

enum class Interpolation { kNearest, kNearestExact, kLinear, kCubic };

// How one axis is resized.
struct ResizedAxis {
  Dim input, output;
  std::optional<double> factor;  // given by the model; else output / input is used
  bool align_corners = false;

  bool is_fixed() const { return input.is_fixed() && output.is_fixed(); }
  // The distance of neighbouring result cells in the source, by the factor given or by sizes; is_fixed().
  float step() const;
  float step_by_sizes() const;
  // The whole number that the size grows by, with half-pixel centres; 0 if it is none.
  int64_t whole_growth() const;
  // The same for a size that shrinks.
  int64_t whole_shrinkage() const;
};

// [output, input] of a fixed axis.
at::Tensor interpolation_matrix(const ResizedAxis& axis, Interpolation interpolation);

// The source cell of each result cell, for kNearest and kNearestExact, with the step given.
std::vector<int64_t> nearest_cells(const ResizedAxis& axis, Interpolation interpolation, float step);

}  // namespace nnapi_convert
