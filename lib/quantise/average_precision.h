// SPDX-License-Identifier: BSD-3-Clause
// Compares detections with boxes that people drew, by COCO's average precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert::quantise {

// A box by its corners, in any unit.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// A thing that a model found in a picture.
struct Detection {
  size_t picture = 0;
  int64_t label = 0;
  double score = 0;
  Box box = {};
};

// A thing in a picture, as people drew it.
struct DrawnBox {
  size_t picture = 0;
  int64_t label = 0;
  Box box = {};
  bool is_crowd = false;  // many things in one box: detections in it count neither way
};

// Returns COCO's AP at an IoU of 0.5 (AP50, cocodataset.org, "Detection Evaluation"), from 0 to 1: the mean over the
// labels of the boxes, without crowds; 0 without boxes.
// - For each label and picture, the 100 detections with the highest scores count.
// - Detections, from the highest score on, take the free box of their label and picture with the largest intersection
//   over union, if that is 0.5 or more; one that takes none counts as wrong unless at least half of it lies in a crowd.
// - AP is the mean, over the recalls 0, 0.01, ... 1, of the best precision at that recall or a higher one.
double mean_average_precision(const std::vector<Detection>& detections, const std::vector<DrawnBox>& boxes);

}  // namespace nnapi_convert::quantise
