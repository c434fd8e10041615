// SPDX-License-Identifier: BSD-3-Clause
// Computes HEATMAP_MAX_KEYPOINT: the peaks of a box's heatmaps, interpolated between cells.
#include <algorithm>
#include <cmath>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/boxes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"

namespace nnapi_convert::host {
namespace {

struct Peak {
  float x = 0, y = 0;  // in cells
  float score = 0;
};

// A square heatmap; beyond its edges it is mirrored.
struct Heatmap {
  const float* cells;
  int64_t size;

  float at(int64_t y, int64_t x) const { return cells[inside(y) * size + inside(x)]; }
  int64_t inside(int64_t i) const {
    if (i < 0) return 1;
    return i < size ? i : size - 2;
  }
};

// Returns the peak of the second-order surface through the cells around the greatest cell, or that cell itself if the
// surface has no single peak. A determinant below `least`, absolute or relative, counts as 0.
Peak peak_of(const Heatmap& map, float least) {
  constexpr float kFarthest = 1.5f;
  const int64_t greatest = std::max_element(map.cells, map.cells + map.size * map.size) - map.cells;
  const int64_t y = greatest / map.size, x = greatest % map.size;
  const float score = map.at(y, x);
  Peak peak = {static_cast<float>(x), static_cast<float>(y), score};
  const float slope_x = (map.at(y, x + 1) - map.at(y, x - 1)) / 2;
  const float slope_y = (map.at(y + 1, x) - map.at(y - 1, x)) / 2;
  const float bend_x = map.at(y, x - 1) - 2 * score + map.at(y, x + 1);
  const float bend_y = map.at(y - 1, x) - 2 * score + map.at(y + 1, x);
  const float twist = (map.at(y + 1, x + 1) - map.at(y + 1, x - 1) - map.at(y - 1, x + 1) + map.at(y - 1, x - 1)) / 4;
  const float determinant = bend_x * bend_y - twist * twist;
  if (std::abs(determinant) < least + least * bend_x * bend_y) return peak;
  float shift_x = (twist * slope_y - bend_y * slope_x) / determinant;
  float shift_y = (twist * slope_x - bend_x * slope_y) / determinant;
  const float farthest = std::max(std::abs(shift_x), std::abs(shift_y));
  if (farthest > kFarthest) {
    shift_x *= kFarthest / farthest;
    shift_y *= kFarthest / farthest;
  }
  peak.x += shift_x;
  peak.y += shift_y;
  peak.score += slope_x * shift_x + slope_y * shift_y +
                (bend_x * shift_x * shift_x + 2 * twist * shift_x * shift_y + bend_y * shift_y * shift_y) / 2;
  return peak;
}

}  // namespace

void heatmap_max_keypoint_rule(OpContext& context) {
  for (const char* name : {"boxes", "output_keypoints"}) require_box_quantization(context, name);
  const Image maps = image_of(context, "heatmaps");
  if (maps.height != maps.width || maps.height < 2) {
    context.refuse("heatmaps", "height {} and width {} found, equal ones of at least 2 needed", maps.height,
                   maps.width);
  }
  require_dims(context, "boxes", {maps.batch, kBoxLength});
  context.set_output({maps.batch, maps.channels}, 0);
  context.set_output({maps.batch, maps.channels, 2}, 1);
}

void heatmap_max_keypoint(OpContext& context) {
  const float least = context.type("heatmaps") == OperandCode::TENSOR_FLOAT16 ? 1e-3f : 1e-5f;
  const Image image = image_of(context, "heatmaps");
  const at::Tensor maps = to_nchw(floats(context, "heatmaps"), image).contiguous(), boxes = floats(context, "boxes");
  require_ordered(context, "boxes", boxes);
  at::Tensor scores = at::empty({image.batch, image.channels}, at::kFloat);
  at::Tensor keypoints = at::empty({image.batch, image.channels, 2}, at::kFloat);
  const auto size = static_cast<float>(image.height);
  for (int64_t i = 0; i < scores.numel(); ++i) {
    const Peak peak = peak_of({maps.data_ptr<float>() + i * image.height * image.width, image.height}, least);
    const Box box = box_at(boxes, i / image.channels);
    scores.data_ptr<float>()[i] = peak.score;
    keypoints.data_ptr<float>()[2 * i] = (peak.x + 0.5f) / size * (box.x2 - box.x1) + box.x1;
    keypoints.data_ptr<float>()[2 * i + 1] = (peak.y + 0.5f) / size * (box.y2 - box.y1) + box.y1;
  }
  context.put(to_shifted_codes(scores, context.operand("output_scores")), 0);
  context.store(keypoints, 1);
}

}  // namespace nnapi_convert::host
