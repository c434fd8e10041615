// SPDX-License-Identifier: BSD-3-Clause
// grid_sample: an image read at computed places. Its pixels are the rows of a table, of which GATHER takes the four
// around each place.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <optional>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

enum Interpolation { kBilinear = 0 };
enum Padding { kZeros = 0, kBorder = 1 };
constexpr int64_t kMostRows = int64_t{1} << 24;  // whole numbers that a float32 holds

std::vector<ValueType> grid_sample_type(const OpArguments& args) {
  const TensorType input = args.tensor("input"), grid = args.tensor("grid");
  require_rank(args, input, 4, 4);
  require_rank(args, grid, 4, 4);
  require_float(args, input);
  require_float(args, grid);
  args.require(all_fixed(input.dims) && all_fixed(grid.dims), "flexible sizes", "fixed sizes",
               "give every size of the input with --input");
  const int64_t mode = args.integer("interpolation_mode"), padding = args.integer("padding_mode");
  args.require(mode == kBilinear, fmt::format("interpolation_mode {}", mode), "0 (bilinear)");
  args.require(padding == kZeros || padding == kBorder, fmt::format("padding_mode {}", padding),
               "0 (zeros) or 1 (border)");
  const int64_t rows = (input.dims[0] * input.dims[2] * input.dims[3]).value();
  args.require(rows <= kMostRows, fmt::format("{} pixels", rows), fmt::format("{} at most", kMostRows));
  return {input.with_dims({input.dims[0], input.dims[1], grid.dims[1], grid.dims[2]})};
}

// One coordinate of each place: the lower of the whole numbers on its two sides, and its distance from that.
struct Axis {
  Expression low, share;
  double last;  // the greatest whole number that is a pixel
};

// Reads a coordinate and turns it from -1..1 into pixels: the ends are the centres of the outer pixels, or their outer
// borders.
Axis read_axis(OpContext& ctx, const Expression& grid, size_t which, const Dim& size) {
  Dims begin(4, Dim(0)), end = grid.type().dims;
  begin[3] = Dim(static_cast<int64_t>(which));
  end[3] = Dim(static_cast<int64_t>(which) + 1);
  const TensorType type = grid.type().with_dims({end[0], end[1], end[2], Dim(1)});
  const Expression one(ctx, {ctx.sliced({grid.id(), grid.type()}, begin, end, Dims(4, Dim(1))), type});
  const Expression column = reshape(one, {product(type.dims), Dim(1)});
  const auto pixels = static_cast<double>(size.value());
  Expression place =
      ctx.boolean("align_corners") ? (column + 1) * ((pixels - 1) / 2) : column * (pixels / 2) + (pixels - 1) / 2;
  if (ctx.integer("padding_mode") == kBorder) place = minimum(maximum(place, 0), pixels - 1);
  const Expression low = floor(place);
  return {low, place - low, pixels - 1};
}

// A neighbour along one axis: its pixel, or the nearest one, and its weight, which is 0 outside.
struct Neighbour {
  Expression pixel, weight;
};

Neighbour neighbour(const Axis& axis, bool is_upper) {
  const Expression place = is_upper ? axis.low + 1 : axis.low;
  const Expression pixel = minimum(maximum(place, 0), axis.last);
  const Expression weight = is_upper ? axis.share : 1 - axis.share;
  return {pixel, weight * (1 - minimum(abs(place - pixel), 1))};
}

// Returns the first row in the table of each place's image.
at::Tensor first_rows(const TensorType& input, const TensorType& grid) {
  const int64_t places = (grid.dims[1] * grid.dims[2]).value(), rows = (input.dims[2] * input.dims[3]).value();
  return (at::arange(grid.dims[0].value()) * rows).repeat_interleave(places).reshape({-1, 1}).to(at::kFloat);
}

void lower_grid_sample(OpContext& ctx) {
  const Expression input = argument(ctx, "input"), grid = argument(ctx, "grid");
  const Dims& sizes = input.type().dims;
  const Dim channels = sizes[1];
  const Expression table = reshape(transpose(input, {0, 2, 3, 1}), {sizes[0] * sizes[2] * sizes[3], channels});
  const Axis x = read_axis(ctx, grid, 0, sizes[3]), y = read_axis(ctx, grid, 1, sizes[2]);
  const Dims column = x.low.type().dims;
  const bool is_single = sizes[0] == Dim(1);
  std::optional<Expression> sum;
  const std::array<Neighbour, 2> columns{neighbour(x, false), neighbour(x, true)};
  const std::array<Neighbour, 2> rows{neighbour(y, false), neighbour(y, true)};
  for (const Neighbour& down : rows) {
    for (const Neighbour& across : columns) {
      Expression row = down.pixel * static_cast<double>(sizes[3].value()) + across.pixel;
      if (!is_single) row = row + tensor_constant(ctx, first_rows(input.type(), grid.type()));
      const Expression index = cast(reshape(row, {column[0]}), at::kInt);
      const Expression pixels = table.then(OperationCode::GATHER, {ctx.builder().int32(0), index.id()},
                                           table.type().with_dims({column[0], channels}));
      const Expression part = pixels * (across.weight * down.weight);
      sum = sum ? *sum + part : part;
    }
  }
  const Dims output = ctx.output_type().dims;
  transpose(reshape(*sum, {output[0], output[2], output[3], channels}), {0, 3, 1, 2}).set_output();
}

}  // namespace

OpRules grid_sample_rules() {
  const char* note = "bilinear, padding with zeros or the border, fixed sizes";
  return {
      {"aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
       "Tensor",
       3, note, grid_sample_type, lower_grid_sample, kUnprovedRows},
      {"aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
       "-> Tensor",
       3, note, grid_sample_type, lower_grid_sample, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
