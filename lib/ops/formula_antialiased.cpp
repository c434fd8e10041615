// SPDX-License-Identifier: BSD-3-Clause
// Images resized with antialiasing: each row of the result is a weighted sum of rows of the image, and each column one
// of columns, so that both are products with constant matrices. ATen's own operator, applied to a unit matrix, gives
// the weights.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;
using ResizeImage = Tensor (*)(const Tensor&, at::IntArrayRef, bool, c10::optional<double>, c10::optional<double>);

struct AntialiasedAxis {
  int64_t input, output;
  c10::optional<double> factor;

  bool changes() const { return input != output || (factor && *factor != 1); }
};

// Reads the resizing of an axis; number 0 is the height, 1 the width.
AntialiasedAxis antialiased_axis(const FormulaArguments& args, const Tensor& image, size_t number) {
  AntialiasedAxis axis{image.size(2 + static_cast<int64_t>(number)), 0, c10::nullopt};
  const char* name = number == 0 ? "scales_h" : "scales_w";
  if (!args.is_none("scale_factors")) axis.factor = args.value("scale_factors").toDoubleVector().at(number);
  if (!args.is_none(name)) axis.factor = args.number(name);
  axis.output = args.is_none("output_size")
                    ? static_cast<int64_t>(std::floor(static_cast<double>(axis.input) * axis.factor.value()))
                    : args.integers("output_size").at(number);
  return axis;
}

// Returns a matrix [input, output]: the weight of each cell of the axis in each cell of the result.
template <ResizeImage resize>
Tensor shares_of_cells(const AntialiasedAxis& axis, bool align_corners) {
  constexpr int64_t kMostCells = 1 << 24;  // cells of the unit matrix, also when it is resized
  if (axis.input * std::max(axis.input, axis.output) > kMostCells) {
    throw FormulaRefused(fmt::format("{} cells resized to {}", axis.input, axis.output),
                         fmt::format("at most {} by {} cells", 1 << 12, 1 << 12));
  }
  return constant_of([&] {
    const Tensor image = at::eye(axis.input).reshape({1, 1, axis.input, axis.input});
    const Tensor shares = resize(image, {axis.input, axis.output}, align_corners, c10::nullopt, axis.factor);
    return shares.reshape({axis.input, axis.output}).contiguous();
  });
}

template <ResizeImage resize>
std::vector<Formed> antialiased(const FormulaArguments& args) {
  Tensor image = args.first().real;
  const bool align_corners = args.boolean("align_corners");
  const AntialiasedAxis rows = antialiased_axis(args, image, 0), columns = antialiased_axis(args, image, 1);
  if (columns.changes()) image = at::matmul(image, shares_of_cells<resize>(columns, align_corners));
  if (!rows.changes()) return {image};
  return {at::matmul(image.transpose(2, 3), shares_of_cells<resize>(rows, align_corners)).transpose(2, 3)};
}

bool is_float_picture(const OpArguments& args) {
  const TensorType image = args.tensor(args.has("self") ? "self" : "input");
  return image.dtype == at::kFloat && image.rank() == 4;
}

}  // namespace

Formulas antialiased_formulas() {
  constexpr auto bilinear = antialiased<at::_upsample_bilinear2d_aa>;
  constexpr auto bicubic = antialiased<at::_upsample_bicubic2d_aa>;
  return {
      {"aten::_upsample_bilinear2d_aa", is_float_picture, bilinear},
      {"aten::_upsample_bilinear2d_aa.vec", is_float_picture, bilinear},
      {"aten::_upsample_bicubic2d_aa", is_float_picture, bicubic},
      {"aten::_upsample_bicubic2d_aa.vec", is_float_picture, bicubic},
  };
}

}  // namespace nnapi_convert
