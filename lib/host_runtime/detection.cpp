// SPDX-License-Identifier: BSD-3-Clause
// Computes BOX_WITH_NMS_LIMIT and DETECTION_POSTPROCESSING, which choose the boxes to report.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/boxes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

enum NmsKernel : int64_t { kHard, kLinear, kGaussian };

struct Detection {
  Box box;
  float score = 0;
  int32_t label = 0, batch = 0;
};

// Lowers the score of a box that overlaps with a better one, as the argument nms_kernel says.
Survival soft_survival(const OpContext& context) {
  const int64_t kernel = context.integer("nms_kernel");
  const auto threshold = static_cast<float>(context.number("iou_threshold"));
  const auto sigma = static_cast<float>(context.number("sigma"));
  const auto least_score = static_cast<float>(context.number("nms_score_threshold"));
  return [=](Candidate& candidate, float overlap) {
    if (kernel == kGaussian) {
      candidate.score *= std::exp(-overlap * overlap / sigma);
    } else if (!(overlap < threshold)) {
      candidate.score *= kernel == kLinear ? 1 - overlap : 0;
    }
    return !(candidate.score < least_score);
  };
}

// The limits of suppression class by class.
struct ClassLimits {
  float least_score = 0;
  int64_t per_class = 0, total = 0;  // a negative number: all boxes
};

template <typename BoxOf>
std::vector<Candidate> detect(const at::Tensor& scores, const BoxOf& box_of, const ClassLimits& limits,
                              const Survival& survives) {
  const int64_t classes = scores.size(1);
  const float* score = scores.data_ptr<float>();
  std::vector<Candidate> detected;
  for (int64_t c = 1; c < classes; ++c) {
    std::vector<Candidate> candidates;
    for (int64_t i = c; i < scores.numel(); i += classes) {
      if (score[i] > limits.least_score) candidates.push_back({box_of(i), score[i], i});
    }
    const std::vector<Candidate> taken = suppress(std::move(candidates), limits.per_class, survives);
    detected.insert(detected.end(), taken.begin(), taken.end());
  }
  sort_by_score(detected);
  if (limits.total >= 0 && static_cast<int64_t>(detected.size()) > limits.total) {
    detected.resize(static_cast<std::size_t>(limits.total));
  }
  return detected;
}

// Returns the end of the run of equal batch indices that begins at `first`.
int64_t end_of_batch(const at::Tensor& batches, int64_t first) {
  const int32_t* batch = batches.data_ptr<int32_t>();
  int64_t end = first + 1;
  while (end < batches.numel() && batch[end] == batch[first]) ++end;
  return end;
}

void put_detections(OpContext& context, const std::vector<Detection>& detections) {
  std::vector<float> scores;
  std::vector<Box> boxes;
  std::vector<int32_t> labels, batches;
  for (const Detection& detection : detections) {
    scores.push_back(detection.score);
    boxes.push_back(detection.box);
    labels.push_back(detection.label);
    batches.push_back(detection.batch);
  }
  const auto count = static_cast<int64_t>(detections.size());
  context.set_output({count}, 0);
  context.set_output({count, kBoxLength}, 1);
  context.set_output({count}, 2);
  context.set_output({count}, 3);
  context.put(to_shifted_codes(at::tensor(scores), context.operand("output_scores")), 0);
  context.store(tensor_of(boxes), 1);
  context.put(at::tensor(labels), 2);
  context.put(at::tensor(batches), 3);
}

// Applies deltas [batches, n, 4 or more] to anchors [n, 4] of [y, x, height, width], and returns the boxes.
at::Tensor decoded_anchors(const OpContext& context) {
  const auto factors = [&](const char* y, const char* x) {
    return at::tensor({static_cast<float>(context.number(y)), static_cast<float>(context.number(x))});
  };
  const at::Tensor anchors = floats(context, "anchors"), deltas = floats(context, "deltas");
  const at::Tensor size = anchors.narrow(1, 2, 2);
  const at::Tensor shift = deltas.narrow(2, 0, 2).mul(size).div_(factors("scale_y", "scale_x"));
  const at::Tensor reach = deltas.narrow(2, 2, 2).div(factors("scale_h", "scale_w")).exp_().mul_(size).mul_(0.5);
  const at::Tensor center = shift.add_(anchors.narrow(1, 0, 2));
  return at::cat({center.sub(reach), center.add(reach)}, 2).contiguous();
}

// Suppresses boxes by their best class, and returns the `classes_each` best classes of each remaining box.
std::vector<Candidate> detect_by_best_class(const at::Tensor& scores, const at::Tensor& boxes, int64_t limit,
                                            int64_t classes_each, float least_score, const Survival& survives) {
  const int64_t classes = scores.size(1);
  const float* score = scores.data_ptr<float>();
  std::vector<Candidate> candidates;
  for (int64_t i = 0; i < boxes.size(0); ++i) {
    const float best = *std::max_element(score + i * classes + 1, score + (i + 1) * classes);
    if (best > least_score) candidates.push_back({box_at(boxes, i), best, i});
  }
  std::vector<Candidate> detected;
  for (const Candidate& taken : suppress(std::move(candidates), limit, survives)) {
    std::vector<Candidate> labels;
    for (int64_t i = taken.index * classes + 1; i < (taken.index + 1) * classes; ++i) {
      labels.push_back({taken.box, score[i], i});
    }
    sort_by_score(labels);
    labels.resize(static_cast<std::size_t>(std::min(classes - 1, classes_each)));
    detected.insert(detected.end(), labels.begin(), labels.end());
  }
  return detected;
}

}  // namespace

void box_with_nms_limit_rule(OpContext& context) {
  for (const char* name : {"rois", "output_rois"}) require_box_quantization(context, name);
  require_same_quantization(context, "scores", "output_scores");
  context.expect_output({kUnknown}, 0);
  context.expect_output({kUnknown, kBoxLength}, 1);
  context.expect_output({kUnknown}, 2);
  context.expect_output({kUnknown}, 3);
  for (const char* name : {"score_threshold", "iou_threshold", "sigma", "nms_score_threshold"}) context.number(name);
  context.integer("max_detections");
  const int64_t kernel = context.integer("nms_kernel");
  if (kernel < kHard || kernel > kGaussian) {
    context.refuse("nms_kernel", "{} found, 0 (hard), 1 (linear) or 2 (Gaussian) needed", kernel);
  }
  const int64_t count = context.dims("scores")[0], classes = context.dims("scores")[1];
  if (classes < 2) context.refuse("scores", "{} classes found, at least 2 needed with the background", classes);
  require_dims(context, "rois", {count, classes * kBoxLength});
  require_dims(context, "batches", {count});
}

void box_with_nms_limit(OpContext& context) {
  const at::Tensor scores = floats(context, "scores"), rois = floats(context, "rois");
  const at::Tensor batches = context.stored("batches").contiguous();
  const Survival survives = soft_survival(context);
  const int64_t limit = context.integer("max_detections"), classes = scores.size(1);
  const ClassLimits limits{static_cast<float>(context.number("score_threshold")), limit, limit};
  std::vector<Detection> detections;
  for (int64_t first = 0, end = 0; first < scores.size(0); first = end) {
    end = end_of_batch(batches, first);
    const auto box_of = [&](int64_t i) { return box_at(rois, first * classes + i); };
    std::vector<Candidate> found = detect(scores.slice(0, first, end), box_of, limits, survives);
    std::stable_sort(found.begin(), found.end(),
                     [&](const Candidate& a, const Candidate& b) { return a.index % classes < b.index % classes; });
    for (const Candidate& candidate : found) {
      detections.push_back({candidate.box, candidate.score, static_cast<int32_t>(candidate.index % classes),
                            batches.data_ptr<int32_t>()[first]});
    }
  }
  put_detections(context, detections);
}

void detection_postprocessing_rule(OpContext& context) {
  for (const char* name : {"scale_y", "scale_x", "scale_h", "scale_w"}) require_positive(context, name);
  for (const char* name : {"score_threshold", "iou_threshold"}) {
    const double threshold = context.number(name);
    if (threshold < 0) context.refuse(name, "{} found, at least 0 needed", threshold);
  }
  context.flag("label_background");
  int64_t length = positive(context, "max_detections");
  if (context.flag("regular_nms")) {
    positive(context, "max_detections_per_class");
  } else {
    length *= positive(context, "max_classes_per_detection");
  }
  const Dims& scores = context.dims("scores");
  const int64_t batches = scores[0], anchors = scores[1];
  if (scores[2] < 2) context.refuse("scores", "{} classes found, at least 2 needed with the background", scores[2]);
  require_dims(context, "deltas", {batches, anchors, kUnknown});
  const int64_t encoding = context.dims("deltas")[2];
  if (encoding < kBoxLength) context.refuse("deltas", "{} columns found, at least {} needed", encoding, kBoxLength);
  require_dims(context, "anchors", {anchors, kBoxLength});
  context.set_output({batches, length}, 0);
  context.set_output({batches, length, kBoxLength}, 1);
  context.set_output({batches, length}, 2);
  context.set_output({batches}, 3);
}

void detection_postprocessing(OpContext& context) {
  const at::Tensor scores = floats(context, "scores"), boxes = decoded_anchors(context);
  const Dims& dims = context.dims("output_scores");
  at::Tensor output_scores = at::zeros(dims, at::kFloat), labels = at::zeros(dims, at::kInt);
  at::Tensor output_rois = at::zeros({dims[0], dims[1], kBoxLength}, at::kFloat), counts = at::zeros(dims[0], at::kInt);
  const int64_t classes = scores.size(2), limit = context.integer("max_detections");
  const auto least_score = static_cast<float>(context.number("score_threshold"));
  const Survival survives = hard_survival(context.number("iou_threshold"));
  const int64_t first_label = context.flag("label_background") ? 0 : 1;
  for (int64_t n = 0; n < dims[0]; ++n) {
    const at::Tensor image_boxes = boxes[n];
    const auto box_of = [&](int64_t i) { return box_at(image_boxes, i / classes); };
    const auto found =
        context.flag("regular_nms")
            ? detect(scores[n], box_of, {least_score, context.integer("max_detections_per_class"), limit}, survives)
            : detect_by_best_class(scores[n], image_boxes, limit, context.integer("max_classes_per_detection"),
                                   least_score, survives);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const int64_t at = n * dims[1] + static_cast<int64_t>(i);
      output_scores.data_ptr<float>()[at] = found[i].score;
      labels.data_ptr<int32_t>()[at] = static_cast<int32_t>(found[i].index % classes - first_label);
      std::memcpy(output_rois.data_ptr<float>() + at * kBoxLength, &found[i].box, sizeof(Box));
    }
    counts.data_ptr<int32_t>()[n] = static_cast<int32_t>(found.size());
  }
  context.store(output_scores, 0);
  context.store(output_rois, 1);
  context.put(labels, 2);
  context.put(counts, 3);
}

}  // namespace nnapi_convert::host
