// SPDX-License-Identifier: BSD-3-Clause
// Computes ROI_ALIGN and ROI_POOLING, which resample regions of a feature map to one size.
#include <algorithm>
#include <cmath>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/boxes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

// A region along one axis of the feature map.
struct Extent {
  float begin = 0, end = 0;
  int64_t cells = 0;    // extent of the map
  int64_t bins = 0;     // extent of the output
  int64_t samples = 0;  // in each bin; 0: as many as the bin covers cells
};

struct Region {
  Extent height, width;
};

struct Regions {
  Image image, output;
  std::vector<Region> list;
  at::Tensor batches;
};

void require_inside(const OpContext& context, int64_t index, const Extent& extent, const char* axis) {
  if (extent.begin >= 0 && extent.end <= static_cast<float>(extent.cells)) return;
  context.refuse("rois", "box {} covers cells {} to {} of the map's {}, 0 to {} needed", index, extent.begin,
                 extent.end, axis, extent.cells);
}

Image output_image(const OpContext& context, const Image& image) {
  return {image.nchw, context.dims("rois")[0], image.channels, context.integer("output_height"),
          context.integer("output_width")};
}

Regions regions_of(const OpContext& context) {
  Regions regions;
  regions.image = image_of(context, "input");
  regions.output = output_image(context, regions.image);
  regions.batches = checked_indices(context, "batches", regions.image.batch);
  const at::Tensor rois = floats(context, "rois");
  require_ordered(context, "rois", rois);
  const bool samples = context.code() == OperationCode::ROI_ALIGN;
  const int64_t height_samples = samples ? context.integer("height_samples") : 0;
  const int64_t width_samples = samples ? context.integer("width_samples") : 0;
  const float height_scale = 1 / static_cast<float>(context.number("height_ratio"));
  const float width_scale = 1 / static_cast<float>(context.number("width_ratio"));
  for (int64_t i = 0; i < rois.size(0); ++i) {
    const Box box = box_at(rois, i);
    const Region region = {
        {box.y1 * height_scale, box.y2 * height_scale, regions.image.height, regions.output.height, height_samples},
        {box.x1 * width_scale, box.x2 * width_scale, regions.image.width, regions.output.width, width_samples}};
    require_inside(context, i, region.height, "height");
    require_inside(context, i, region.width, "width");
    regions.list.push_back(region);
  }
  return regions;
}

// Returns the weight of each cell in each bin: [bins, cells]. A sample lies between two cells and blends them. The
// samples of a bin are evenly spaced, so the function sums all samples within one cell at once: its time does not
// depend on the number of samples, which the model chooses.
at::Tensor bin_weights(const Extent& extent) {
  at::Tensor weights = at::zeros({extent.bins, extent.cells}, at::kFloat);
  const double bin = std::max(extent.end - extent.begin, 1.0f) / static_cast<double>(extent.bins);
  const int64_t samples = extent.samples > 0 ? extent.samples : static_cast<int64_t>(std::ceil(bin));
  const double step = bin / static_cast<double>(samples);
  const int64_t last = extent.cells - 1;
  for (int64_t b = 0; b < extent.bins; ++b) {
    float* row = weights.data_ptr<float>() + b * extent.cells;
    const double first = extent.begin + bin * static_cast<double>(b) + step / 2;
    int64_t done = 0;
    for (int64_t cell = std::min(static_cast<int64_t>(first), last); done < samples; ++cell) {
      const double end = std::ceil((static_cast<double>(cell + 1) - first) / step);
      const int64_t next = cell == last ? samples : static_cast<int64_t>(std::min(end, static_cast<double>(samples)));
      const auto count = static_cast<double>(next - done);
      const double mean = first + step * static_cast<double>(done + next - 1) / 2;
      const double share = cell < last ? mean - static_cast<double>(cell) : 0;
      row[cell] += static_cast<float>(count * (1 - share));
      if (cell < last) row[cell + 1] += static_cast<float>(count * share);
      done = next;
    }
  }
  return weights.div_(static_cast<double>(samples));
}

// Returns the greatest value of the cells of each bin along an axis; `none` for a bin without cells.
at::Tensor bin_maxima(const at::Tensor& input, int64_t axis, const Extent& extent, double none) {
  const float begin = std::round(extent.begin);
  const float bin = std::max(std::round(extent.end) - begin + 1, 1.0f) / static_cast<float>(extent.bins);
  std::vector<at::Tensor> maxima;
  for (int64_t b = 0; b < extent.bins; ++b) {
    const auto edge = [&](float at) { return std::min(static_cast<int64_t>(at), extent.cells); };
    const int64_t first = edge(std::floor(bin * static_cast<float>(b) + begin));
    const int64_t end = edge(std::ceil(bin * static_cast<float>(b + 1) + begin));
    const at::Tensor cells = input.slice(axis, first, end);
    Dims one(input.sizes().begin(), input.sizes().end());
    one[static_cast<std::size_t>(axis)] = 1;
    maxima.push_back(first < end ? cells.amax(axis, true) : at::full(one, none, input.options()));
  }
  return at::cat(maxima, axis);
}

// Calls `make` on the map [channels, height, width] of each region; all results are [regions, channels, height, width].
template <typename Make>
at::Tensor for_each_region(const Regions& regions, const at::Tensor& maps, const Make& make) {
  const Image& output = regions.output;
  at::Tensor result = at::empty({output.batch, output.channels, output.height, output.width}, maps.options());
  for (std::size_t i = 0; i < regions.list.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    result[index].copy_(make(maps[regions.batches.data_ptr<int64_t>()[i]], regions.list[i]));
  }
  return result;
}

}  // namespace

void roi_rule(OpContext& context) {
  require_box_quantization(context, "rois");
  for (const char* name : {"output_height", "output_width"}) positive(context, name);
  for (const char* name : {"height_ratio", "width_ratio"}) require_positive(context, name);
  if (context.code() == OperationCode::ROI_POOLING) {
    require_same_quantization(context, "input", "output");
  } else {
    for (const char* name : {"height_samples", "width_samples"}) {
      if (context.integer(name) < 0) context.refuse(name, "{} found, at least 0 needed", context.integer(name));
    }
  }
  const Image image = image_of(context, "input");
  if (image.batch * image.channels * image.height * image.width == 0) {
    context.refuse("input", "dimensions {} found, none of them 0 needed", to_string(context.dims("input")));
  }
  require_dims(context, "rois", {kUnknown, kBoxLength});
  const int64_t count = context.dims("rois")[0];
  require_dims(context, "batches", {count});
  context.set_output(output_image(context, image).dims());
}

void roi_align(OpContext& context) {
  const Regions regions = regions_of(context);
  const at::Tensor maps = to_nchw(floats(context, "input"), regions.image);
  const at::Tensor result = for_each_region(regions, maps, [](const at::Tensor& map, const Region& region) {
    return at::matmul(at::matmul(bin_weights(region.height), map), bin_weights(region.width).t());
  });
  context.store(from_nchw(result, regions.output));
}

void roi_pooling(OpContext& context) {
  const Regions regions = regions_of(context);
  const at::Tensor maps = to_nchw(context.stored("input"), regions.image);
  const int32_t none = context.operand("input").zero_point;
  const at::Tensor result = for_each_region(regions, maps, [&](const at::Tensor& map, const Region& region) {
    return bin_maxima(bin_maxima(map, 1, region.height, none), 2, region.width, none);
  });
  context.put(from_nchw(result, regions.output));
}

}  // namespace nnapi_convert::host
