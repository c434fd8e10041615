// SPDX-License-Identifier: BSD-3-Clause
// Regions of feature maps brought to one size: torchvision's roi_align and roi_pool.
//
// ROI_ALIGN and ROI_POOLING compute what torchvision does, but stop at regions that reach out of the map, where
// torchvision reads zeros. ROI_ALIGN widens regions to one cell, as aligned=False does; aligned=True does not, and
// shifts them by half a cell, so that those at the border reach out: it is two products with matrices of weights.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/matmul.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kBoxColumn = 1;  // the first of x1, y1, x2, y2, behind the index of the image
constexpr int64_t kColumns = 5;

std::vector<ValueType> region_type(const OpArguments& args) {
  const TensorType input = args.tensor("input"), rois = args.tensor("rois");
  require_rank(args, input, 4, 4);
  require_float(args, input);
  require_float(args, rois);
  args.require(rois.rank() == 2 && rois.dims[1] == Dim(kColumns), "regions " + to_text(rois),
               fmt::format("[regions, {}]", kColumns));
  const int64_t height = args.integer("pooled_height"), width = args.integer("pooled_width");
  const double scale = args.number("spatial_scale");
  args.require(height > 0 && width > 0 && scale > 0,
               fmt::format("output size {} x {} and spatial_scale = {:g}", height, width, scale), "numbers above 0");
  const TensorType result = input.with_dims({rois.dims[0], input.dims[1], height, width});
  require_positive(args, result.dims);
  if (args.node().outputs().size() == 1) return {result};
  args.require(args.node().output(1)->uses().empty(), "indices that are used", "values only",
               "NNAPI's ROI_POOLING gives no indices");
  return {result, TensorType{at::kInt, result.dims, {}}};
}

// Returns `count` columns of the regions, from `first` on.
LoweredTensor columns(OpContext& ctx, int64_t first, int64_t count) {
  const TensorType rois = ctx.tensor("rois");
  const TensorType type = rois.with_dims({rois.dims[0], Dim(count)});
  if (ctx.is_constant("rois")) {
    return {ctx.constant_operand(ctx.constant("rois").narrow(1, first, count).contiguous()), type};
  }
  return {ctx.sliced(ctx.operand("rois"), {0, first}, {rois.dims[0], first + count}, {1, 1}), type};
}

// Returns the number of each region's image, as int32. With a single image all regions are of it.
nnapi::OperandId images_of_regions(OpContext& ctx) {
  const Dim count = ctx.tensor("rois").dims[0];
  if (count.is_fixed() && ctx.tensor("input").dims[0] == Dim(1)) {
    return ctx.constant_operand(at::zeros({count.value()}, at::kInt));
  }
  if (ctx.is_constant("rois")) return ctx.constant_operand(ctx.constant("rois").select(1, 0).to(at::kInt));
  return cast(reshape({ctx, columns(ctx, 0, 1)}, {count}), at::kInt).id();
}

// Refuses constant regions outside of the map, which stop NNAPI.
void require_inside_map(OpContext& ctx) {
  if (!ctx.is_constant("rois")) {
    return ctx.warn("NNAPI stops at regions that reach out of the map, where PyTorch reads zeros");
  }
  const Dims& dims = ctx.tensor("input").dims;
  const at::Tensor boxes = ctx.constant("rois").narrow(1, kBoxColumn, 4) * ctx.number("spatial_scale");
  for (const int64_t axis : {0, 1}) {  // x, y
    const Dim& size = dims[static_cast<size_t>(3 - axis)];
    const double least = boxes.select(1, axis).min().item<double>(),
                 greatest = boxes.select(1, axis + 2).max().item<double>();
    ctx.require(least >= 0 && size.is_fixed() && greatest <= static_cast<double>(size.value()),
                fmt::format("regions from cell {:g} to {:g} of {}", least, greatest, size.text()),
                "regions inside the map");
  }
}

void emit_regions(OpContext& ctx, OperationCode code, nnapi::OperandId boxes, float scale,
                  const std::vector<nnapi::OperandId>& samples) {
  nnapi::Builder& builder = ctx.builder();
  const nnapi::OperandId ratio = builder.float32(1 / scale);
  std::vector<nnapi::OperandId> inputs{ctx.operand("input").id,
                                       boxes,
                                       images_of_regions(ctx),
                                       builder.int32(ctx.integer("pooled_height")),
                                       builder.int32(ctx.integer("pooled_width")),
                                       ratio,
                                       ratio};
  inputs.insert(inputs.end(), samples.begin(), samples.end());
  inputs.push_back(builder.boolean(true));
  ctx.emit(code, inputs);
}

// One axis of the regions: x or y.
struct RegionAxis {
  int64_t column;  // the begin's column; the end's is 2 further
  int64_t bins;
  Dim cells;  // the map's size along this axis
};

// Returns the weight of each cell of the map in each bin: [regions, bins, cells]. A sample between two cells is shared
// between them by its distance; up to one cell outside it counts as the border's cell, further out as zero.
Expression bin_weights(OpContext& ctx, const RegionAxis& axis) {
  const int64_t samples = ctx.integer("sampling_ratio");
  const double scale = ctx.number("spatial_scale");
  const auto cells = static_cast<double>(axis.cells.value());
  const int64_t count = axis.bins * samples;
  const at::Tensor share = (at::arange(count, at::kFloat) + 0.5) / static_cast<double>(count);
  at::Tensor factors = at::zeros({count, kColumns});
  factors.select(1, axis.column).copy_((1 - share) * scale);
  factors.select(1, axis.column + 2).copy_(share * scale);
  const Expression at = argument(ctx, "rois")
                            .then(OperationCode::FULLY_CONNECTED,
                                  {ctx.constant_operand(factors), ctx.constant_operand(at::full({count}, -0.5)),
                                   ctx.builder().int32(static_cast<int64_t>(FuseCode::NONE))},
                                  {at::kFloat, {ctx.tensor("rois").dims[0], count}, {}});
  const Expression beyond = maximum(-1 - at, at - cells);
  const Expression inside = compare(OperationCode::LESS_EQUAL, beyond, beyond.same(0));
  // A sample is moved three cells outside, where no cell is next to it.
  const Expression clamped = select(inside, minimum(maximum(at, 0), cells - 1), filled(ctx, -3, at.type()));
  const Dim regions = at.type().dims[0];
  const at::Tensor cell = at::arange(axis.cells.value(), at::kFloat).reshape({1, 1, -1});
  const Expression numbers(ctx, {ctx.constant_operand(cell), {at::kFloat, {1, 1, axis.cells}, {}}});
  const Expression weights = relu(1 - abs(reshape(clamped, {regions, Dim(count), Dim(1)}) - numbers));
  if (samples == 1) return weights;
  return reduce(OperationCode::MEAN, reshape(weights, {regions, axis.bins, samples, axis.cells}), {2}, false);
}

// Spreads the weights over the cells of all images, [regions, bins, images * cells]; only a region's own image has
// weights.
Expression for_own_image(OpContext& ctx, const Expression& weights, int64_t images) {
  if (images == 1) return weights;
  const Dims& dims = weights.type().dims;
  const at::Tensor number = at::arange(images, at::kFloat).unsqueeze(0);
  const Expression numbers(ctx, {ctx.constant_operand(number), {at::kFloat, {1, images}, {}}});
  const Expression own = relu(1 - abs(Expression(ctx, columns(ctx, 0, 1)) - numbers));
  const Expression all = reshape(weights, {dims[0], dims[1], 1, dims[2]}) * reshape(own, {dims[0], 1, images, 1});
  return reshape(all, {dims[0], dims[1], Dim(images) * dims[2]});
}

void lower_aligned(OpContext& ctx) {
  const TensorType input = ctx.tensor("input");
  ctx.require(ctx.integer("sampling_ratio") > 0, "aligned = True with a number of samples by the region's size",
              "a sampling_ratio of 1 or more", "or use aligned=False");
  ctx.require(all_fixed(input.dims), "aligned = True on a map " + to_text(input), "a fixed size",
              "give every size of the input with --input");
  const int64_t images = input.dims[0].value();
  const Dim channels = input.dims[1], height = input.dims[2], width = input.dims[3];
  const RegionAxis y{kBoxColumn + 1, ctx.integer("pooled_height"), height};
  const RegionAxis x{kBoxColumn, ctx.integer("pooled_width"), width};
  const Expression rows = for_own_image(ctx, bin_weights(ctx, y), images);
  const Expression columns = bin_weights(ctx, x);
  const Dim regions = rows.type().dims[0];
  const Factor map =
      Factor(ctx, ctx.operand("input")).permuted({1, 3, 0, 2}).reshaped({channels * width, Dim(images) * height});
  const Factor row_weights =
      Factor(ctx, {rows.id(), rows.type()}).reshaped({regions * Dim(y.bins), Dim(images) * height});
  const Factor in_rows = row_product(ctx, row_weights, map).reshaped({regions, Dim(y.bins) * channels, width});
  const Factor result = batch_product(ctx, in_rows, Factor(ctx, {columns.id(), columns.type()}), true);
  ctx.set_output(result.reshaped({regions, y.bins, channels, x.bins}).permuted({0, 2, 1, 3}).operand());
}

void lower_roi_align(OpContext& ctx) {
  if (ctx.boolean("aligned")) return lower_aligned(ctx);
  require_inside_map(ctx);
  const nnapi::OperandId samples = ctx.builder().int32(std::max<int64_t>(0, ctx.integer("sampling_ratio")));
  emit_regions(ctx, OperationCode::ROI_ALIGN, columns(ctx, kBoxColumn, 4).id,
               static_cast<float>(ctx.number("spatial_scale")), {samples, samples});
}

// Returns the size of a region whose bins differ in torchvision and NNAPI; 0 if there is none. Both divide a region
// into bins in float32 and round them outwards: torchvision before it adds the region's begin, NNAPI after.
int64_t size_rounded_differently(int64_t bins, int64_t cells) {
  const auto last = [&](float cell) { return std::min(cell, static_cast<float>(cells)); };
  for (int64_t size = 1; size <= cells + 1; ++size) {
    const float bin = static_cast<float>(size) / static_cast<float>(bins);
    for (int64_t i = 0; i <= bins; ++i) {
      const float edge = bin * static_cast<float>(i);
      for (int64_t first = 0; first + size <= cells + 1; ++first) {
        const auto begin = static_cast<float>(first);
        if (last(std::floor(edge) + begin) != last(std::floor(edge + begin)) ||
            last(std::ceil(edge) + begin) != last(std::ceil(edge + begin))) {
          return size;
        }
      }
    }
  }
  return 0;
}

void require_same_bins(const OpArguments& args, int64_t bins, const Dim& cells) {
  args.require(cells.is_fixed(), "a map of flexible size", "a fixed size", "give every size of the input with --input");
  const int64_t size = size_rounded_differently(bins, cells.value());
  args.require(size == 0, fmt::format("{} bins of a region of {} cells, which NNAPI rounds differently", bins, size),
               fmt::format("a number of bins that is equal for all regions in {} cells", cells.value()),
               "use another output_size, or roi_align");
}

void lower_roi_pool(OpContext& ctx) {
  const TensorType input = ctx.tensor("input");
  require_same_bins(ctx, ctx.integer("pooled_height"), input.dims[2]);
  require_same_bins(ctx, ctx.integer("pooled_width"), input.dims[3]);
  require_inside_map(ctx);
  const auto scale = static_cast<float>(ctx.number("spatial_scale"));
  const Expression boxes(ctx, columns(ctx, kBoxColumn, 4));
  // NNAPI multiplies by the inverse of a ratio. If that differs from the scale, borders would be rounded to other
  // cells.
  if (1 / (1 / scale) == scale) return emit_regions(ctx, OperationCode::ROI_POOLING, boxes.id(), scale, {});
  emit_regions(ctx, OperationCode::ROI_POOLING, (boxes * scale).id(), 1, {});
}

}  // namespace

OpRules detection_rules() {
  return {
      {"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
       "int "
       "sampling_ratio, bool aligned) -> Tensor",
       3, "float32; aligned=False: regions in the map; aligned=True: a sampling_ratio, a fixed size", region_type,
       lower_roi_align, kUnprovedRows | ResultSizes::kRegions},
      {"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) -> "
       "(Tensor, Tensor)",
       3, "float32; regions in the map, a fixed size, without the indices", region_type, lower_roi_pool,
       kUnprovedRows | ResultSizes::kRegions},
  };
}

}  // namespace nnapi_convert
