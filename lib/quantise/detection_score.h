// SPDX-License-Identifier: BSD-3-Clause
// Computes the mean average precision of a detector's results, compared with boxes in COCO's JSON.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/average_precision.h"
#include "lib/quantise/forward_results.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// The boxes of samples, and how each sample's picture became the model's input.
class DetectionScore {
 public:
  // Reads --sample-boxes: "images" (id, file_name), "annotations" (image_id, category_id, bbox [x, y, width, height],
  // iscrowd) and "categories" (id, name). `names` are of the samples that are judged, `inputs` their tensors. A label
  // of the model is a category's id, or, with `class_names` of --labels, the number of its name there. Throws
  // ConvertError: kBadFile for another file, or one without a box of any sample; kUsage for samples that are no
  // pictures.
  DetectionScore(const CalibrationOptions& calibration, const std::vector<SampleName>& names,
                 const CalibrationSamples& inputs, const std::vector<std::string>& class_names);

  // Returns mean_average_precision() of forward's results for the samples. Detections are, in pixels of the input:
  // - tensors boxes [N, 4] (left, top, right, bottom), scores [N] and labels [N] of these names, as torchvision's;
  // - one tensor [N, 6] or [1, N, 6]: left, top, right, bottom, score, label;
  // - three tensors, [N, 4], [N] of floats (scores) and [N] of integers (labels), each perhaps with a 1 before.
  // Throws ConvertError (kUsage) for other results.
  double of(const std::vector<ForwardResult>& results) const;

 private:
  struct Scene {
    bool is_drawn = false;                           // the file has the picture
    double left = 0, top = 0, across = 1, down = 1;  // from the input's pixels to the picture's
  };

  std::vector<Scene> scenes_;  // by sample
  std::vector<quantise::DrawnBox> boxes_;
  std::vector<int64_t> categories_;  // by label; empty: labels are categories
};

}  // namespace nnapi_convert
