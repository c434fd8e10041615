// SPDX-License-Identifier: BSD-3-Clause
// Computes AXIS_ALIGNED_BBOX_TRANSFORM and GENERATE_PROPOSALS, which make boxes from deltas.
#include <algorithm>
#include <cmath>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/boxes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

struct Proposals {
  int64_t before = 0, after = 0;  // most candidates before and after suppression; -1: all
  float least_side = 0;
  Survival survives;
};

int64_t limit_of(const OpContext& context, const char* argument) {
  const int64_t limit = context.integer(argument);
  return limit > 0 ? limit : -1;
}

// Returns an image of either layout as [N, H * W * channels / length, length], in the order of NHWC.
at::Tensor rows_of(const OpContext& context, const char* argument, int64_t length) {
  at::Tensor numbers = floats(context, argument);
  if (context.flag("layout")) numbers = numbers.permute({0, 2, 3, 1});
  return numbers.reshape({numbers.size(0), -1, length});
}

// Returns the anchors at each cell of the image: [H * W * anchors, 4].
at::Tensor placed_anchors(const OpContext& context, const Image& image) {
  const auto steps = [](int64_t count, double ratio) { return at::arange(count, at::kFloat).mul_(ratio); };
  const at::Tensor y = steps(image.height, context.number("height_ratio")).view({-1, 1, 1});
  const at::Tensor x = steps(image.width, context.number("width_ratio")).view({1, -1, 1});
  const auto grid = at::broadcast_tensors({x, y, x, y});
  const at::Tensor shifts = at::cat(grid, 2).unsqueeze(2);  // [H, W, 1, 4]
  return floats(context, "anchors").add(shifts).reshape({-1, kBoxLength});
}

std::vector<Candidate> candidates_of(const at::Tensor& scores, const at::Tensor& boxes, const at::Tensor& image,
                                     const Proposals& proposals) {
  std::vector<Candidate> candidates;
  for (int64_t i = 0; i < scores.numel(); ++i) {
    candidates.push_back({box_at(boxes, i), scores.data_ptr<float>()[i], i});
  }
  if (proposals.before >= 0 && proposals.before < static_cast<int64_t>(candidates.size())) {
    sort_by_score(candidates);
    candidates.resize(static_cast<std::size_t>(proposals.before));
  }
  const float height = image.data_ptr<float>()[0], width = image.data_ptr<float>()[1];
  const auto useless = [&](const Candidate& candidate) {
    const Box& box = candidate.box;
    const float box_width = box.x2 - box.x1, box_height = box.y2 - box.y1;
    const bool large = box_width > proposals.least_side && box_height > proposals.least_side;
    return !large || box.x1 + box_width / 2 >= width || box.y1 + box_height / 2 >= height;
  };
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(), useless), candidates.end());
  return candidates;
}

}  // namespace

void bbox_transform_rule(OpContext& context) {
  for (const char* name : {"rois", "image_sizes", "output"}) require_box_quantization(context, name);
  const int64_t count = context.dims("rois")[0];
  require_dims(context, "rois", {count, kBoxLength});
  require_dims(context, "batches", {count});
  require_dims(context, "image_sizes", {kUnknown, 2});
  require_dims(context, "deltas", {count, kUnknown});
  const int64_t length = context.dims("deltas")[1];
  if (length == 0 || length % kBoxLength != 0) {
    context.refuse("deltas", "{} columns found, a multiple of {} needed", length, kBoxLength);
  }
  context.set_output({count, length});
}

void bbox_transform(OpContext& context) {
  const Dims& output = context.dims("output");
  const at::Tensor rois = floats(context, "rois"), sizes = floats(context, "image_sizes");
  require_ordered(context, "rois", rois);
  const at::Tensor images = at::index_select(sizes, 0, checked_indices(context, "batches", sizes.size(0)));
  const at::Tensor deltas = floats(context, "deltas").view({output[0], output[1] / kBoxLength, kBoxLength});
  context.store(transformed_boxes(rois, deltas, images).reshape(output));
}

void generate_proposals_rule(OpContext& context) {
  for (const char* name : {"anchors", "image_sizes", "output_rois"}) require_box_quantization(context, name);
  require_same_quantization(context, "scores", "output_scores");
  context.expect_output({kUnknown}, 0);
  context.expect_output({kUnknown, kBoxLength}, 1);
  context.expect_output({kUnknown}, 2);
  for (const char* name : {"height_ratio", "width_ratio", "iou_threshold", "min_size"}) context.number(name);
  for (const char* name : {"pre_nms_limit", "post_nms_limit"}) context.integer(name);
  const Image scores = image_of(context, "scores");
  Image deltas = scores;
  deltas.channels *= kBoxLength;
  require_dims(context, "deltas", deltas.dims());
  require_dims(context, "anchors", {scores.channels, kBoxLength});
  require_dims(context, "image_sizes", {scores.batch, 2});
}

void generate_proposals(OpContext& context) {
  const Image image = image_of(context, "scores");
  const Proposals proposals{limit_of(context, "pre_nms_limit"), limit_of(context, "post_nms_limit"),
                            static_cast<float>(context.number("min_size")),
                            hard_survival(context.number("iou_threshold"))};
  const at::Tensor anchors = placed_anchors(context, image), sizes = floats(context, "image_sizes");
  require_ordered(context, "anchors", anchors);
  const at::Tensor scores = rows_of(context, "scores", 1), deltas = rows_of(context, "deltas", kBoxLength);
  std::vector<Box> boxes;
  std::vector<float> taken_scores;
  std::vector<int32_t> batches;
  for (int64_t n = 0; n < image.batch; ++n) {
    const at::Tensor size = sizes.narrow(0, n, 1);
    const at::Tensor moved = transformed_boxes(anchors, deltas[n].unsqueeze(1), size);
    const auto candidates = candidates_of(scores[n], moved, size, proposals);
    for (const Candidate& taken : suppress(candidates, proposals.after, proposals.survives)) {
      boxes.push_back(taken.box);
      taken_scores.push_back(taken.score);
      batches.push_back(static_cast<int32_t>(n));
    }
  }
  const int64_t count = static_cast<int64_t>(boxes.size());
  context.set_output({count}, 0);
  context.set_output({count, kBoxLength}, 1);
  context.set_output({count}, 2);
  context.put(to_shifted_codes(at::tensor(taken_scores), context.operand("output_scores")), 0);
  context.store(tensor_of(boxes), 1);
  context.put(at::tensor(batches), 2);
}

}  // namespace nnapi_convert::host
