// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/fourier.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

namespace nnapi_convert {
namespace {

using at::Tensor;

constexpr double kFullTurn = 6.283185307179586476925286766559;

struct Waves {
  Tensor cosines, sines;
};

// Returns cosines and sines of all products of a place and a frequency, as doubles. The products are taken modulo the
// length: whole turns would cost precision. Zeros are exact, as those of PyTorch's transforms are: the angle of a bin
// whose imaginary part is 0 jumps by a turn if that part has another sign.
Waves waves(int64_t length, int64_t places, int64_t frequencies) {
  const auto numbers = [](int64_t count) { return at::arange(count, at::TensorOptions(at::kLong)); };
  const Tensor products = at::remainder(numbers(places).unsqueeze(1) * numbers(frequencies).unsqueeze(0), length);
  const Tensor angles = products.to(at::kDouble) * (kFullTurn / static_cast<double>(length));
  const Tensor is_half = at::eq(at::remainder(products * 2, length), 0);  // half a turn, or none
  const Tensor is_quarter = at::eq(at::remainder(products * 4, length), 0).logical_and(is_half.logical_not());
  return {at::cos(angles).masked_fill(is_quarter, 0), at::sin(angles).masked_fill(is_half, 0)};
}

double sign_of(Direction direction) {
  return direction == Direction::kForward ? -1 : 1;
}

// Returns x with `count` elements along the axis: cut off, or with zeros behind.
Tensor sized(const Tensor& x, int64_t axis, int64_t count) {
  const int64_t size = x.size(axis);
  if (size == count) return x;
  if (size > count) return x.narrow(axis, 0, count);
  std::vector<int64_t> sides(static_cast<size_t>(2 * (x.dim() - axis)), 0);
  sides[sides.size() - 1] = count - size;
  return at::constant_pad_nd(x, sides, 0);
}

// Multiplies the axis by the matrix.
Tensor contracted(const Tensor& x, int64_t axis, const Tensor& matrix) {
  const bool is_last = axis == x.dim() - 1;
  const Tensor moved = is_last ? x : at::transpose(x, axis, -1);
  const Tensor result = at::matmul(moved, matrix);
  return is_last ? result : at::transpose(result, axis, -1);
}

Formed split_parts(const Tensor& joined, int64_t axis) {
  const int64_t count = joined.size(axis) / 2;
  return {joined.narrow(axis, 0, count), joined.narrow(axis, count, count)};
}

// Returns the real parts and, if x is complex, the imaginary parts behind them along the axis; both are cut or padded
// with zeros to `count`.
Tensor joined_parts(const Formed& x, int64_t axis, int64_t count) {
  const Tensor real = sized(x.real, axis, count);
  return x.is_complex() ? at::cat({real, sized(x.imaginary, axis, count)}, axis) : real;
}

}  // namespace

double transform_scale(const std::string& norm, Direction direction, int64_t length) {
  const auto count = static_cast<double>(length);
  if (norm == "ortho") return 1 / std::sqrt(count);
  const bool divides = (norm == "forward") == (direction == Direction::kForward);
  return divides ? 1 / count : 1;
}

void check_length(int64_t length) {
  if (length >= 1 && length <= kLongestTransform) return;
  throw FormulaRefused(fmt::format("a Fourier transform of {} numbers", length),
                       fmt::format("1 to {}", kLongestTransform),
                       "NNAPI has no such operation: it is a product with a constant matrix");
}

Tensor analysis_matrix(int64_t length, int64_t bins, Direction direction, double scale) {
  const auto [cosines, sines] = waves(length, length, bins);
  return (at::cat({cosines, sines * sign_of(direction)}, 1) * scale).to(at::kFloat);
}

// Returns the matrix of the transform back to real numbers. Each bin stands for two, except the first and, for an even
// length, the middle one.
Tensor synthesis_matrix(int64_t length, Direction direction, double scale) {
  const int64_t bins = length / 2 + 1;
  const auto [cosines, sines] = waves(length, bins, length);
  Tensor weights = at::full({bins, 1}, 2 * scale, at::TensorOptions(at::kDouble));
  weights[0].fill_(scale);
  if (length % 2 == 0) weights[bins - 1].fill_(scale);
  return at::cat({cosines * weights, sines * weights * -sign_of(direction)}, 0).to(at::kFloat);
}

Formed full_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale) {
  check_length(length);
  const Tensor matrix = constant_of([&] {
    const Tensor of_real = analysis_matrix(length, length, direction, scale);
    if (!x.is_complex()) return of_real;
    const Tensor cosines = of_real.narrow(1, 0, length), sines = of_real.narrow(1, length, length);
    return at::cat({of_real, at::cat({at::neg(sines), cosines}, 1)}, 0);
  });
  return split_parts(contracted(joined_parts(x, axis, length), axis, matrix), axis);
}

Formed half_transform(const Tensor& x, int64_t axis, int64_t length, Direction direction, double scale) {
  check_length(length);
  const Tensor matrix = constant_of([&] { return analysis_matrix(length, length / 2 + 1, direction, scale); });
  return split_parts(contracted(sized(x, axis, length), axis, matrix), axis);
}

Tensor real_transform(const Formed& x, int64_t axis, int64_t length, Direction direction, double scale) {
  check_length(length);
  const int64_t bins = length / 2 + 1;
  const Tensor matrix = constant_of([&] {
    const Tensor whole = synthesis_matrix(length, direction, scale);
    return x.is_complex() ? whole : whole.narrow(0, 0, bins).contiguous();
  });
  return contracted(joined_parts(x, axis, bins), axis, matrix);
}

}  // namespace nnapi_convert
