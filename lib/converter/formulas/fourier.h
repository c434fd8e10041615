// Fourier transforms along one axis as products with constant matrices.
#pragma once

#include "lib/converter/formulas/formulas.h"

namespace nnapi_convert {

// The longest transform: its matrix has the square of the length.
constexpr int64_t kLongestTransform = 2048;

enum class Direction { kForward, kInverse };

// How results are scaled: "backward" (or none) divides those of the inverse by the length, "forward" those of the
// forward transform, "ortho" both by its root.
double transform_scale(const std::string& norm, Direction direction, int64_t length);

void check_length(int64_t length);

// Transforms of `length` numbers along an axis, which is cut or filled up with zeros before.
Formed full_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale);
// Of real numbers: the first length / 2 + 1 results, which tell the others.
Formed half_transform(const at::Tensor& x, int64_t axis, int64_t length, Direction direction, double scale);
// Back from these to `length` real numbers.
at::Tensor real_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale);

// The same as matrices, times the scale. Of [length, 2 * bins]: the real parts of the bins' results, then the imaginary
// ones.
at::Tensor analysis_matrix(int64_t length, int64_t bins, Direction direction, double scale);
// Of [2 * (length / 2 + 1), length].
at::Tensor synthesis_matrix(int64_t length, Direction direction, double scale);

}  // namespace nnapi_convert
