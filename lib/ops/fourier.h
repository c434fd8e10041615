// SPDX-License-Identifier: BSD-3-Clause
// Computes Fourier transforms along one axis as products with constant matrices.
#pragma once

#include "lib/ops/formulas.h"

namespace nnapi_convert {

// The greatest length of a transform: its matrix has length * length elements.
constexpr int64_t kLongestTransform = 2048;

enum class Direction { kForward, kInverse };

// Returns the factor of the results. "backward" (or an empty `norm`) divides the inverse transform by the length,
// "forward" divides the forward transform by it, "ortho" divides both by its square root.
double transform_scale(const std::string& norm, Direction direction, int64_t length);

void check_length(int64_t length);

// Transforms `length` numbers along an axis; the axis is cut or padded with zeros to this length.
Formed full_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale);
// Transforms real numbers. Returns the first length / 2 + 1 results; the others are their conjugates.
Formed half_transform(const at::Tensor& x, int64_t axis, int64_t length, Direction direction, double scale);
// Transforms the results of half_transform() back to `length` real numbers.
at::Tensor real_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale);

// Returns the matrix [length, 2 * bins] of a transform of real numbers, times the scale. Its columns give the bins'
// real parts, then their imaginary parts.
at::Tensor analysis_matrix(int64_t length, int64_t bins, Direction direction, double scale);
// Returns the matrix [2 * (length / 2 + 1), length] of the transform back to real numbers, times the scale.
at::Tensor synthesis_matrix(int64_t length, Direction direction, double scale);

}  // namespace nnapi_convert
