// SPDX-License-Identifier: BSD-3-Clause
// How to quantise a model, and the samples to do it by.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/nnapi/device_profile.h"
#include "lib/quantise/accuracy.h"
#include "lib/quantise/distance.h"
#include "lib/quantise/kept_sample.h"
#include "lib/quantise/target.h"
#include "lib/quantise/techniques.h"

namespace nnapi_convert::quantise {

// A score's name, and the function that computes it. The results are by sample held back, of the float model or of the
// integer form.
struct Scoring {
  std::string name = {};
  std::function<double(const Results& results, bool is_float)> of = {};
  bool is_share = true;  // as in Score
};

struct Options {
  int feature_level = 3;
  bool per_channel = false;                  // filters may have a scale for each channel
  bool symmetric_weights = false;            // filters with one scale get a symmetric one, as LiteRT's int8 needs
  bool integer_inputs = false;               // the caller hands over integers
  bool integer_outputs = false;              // the caller gets integers
  std::vector<std::string> keep_float = {};  // operations: by NNAPI's name, the result's name, or the source line
  // The target device; null: any device of the feature level. Operations whose integer form it refuses stay float if it
  // takes that form.
  std::shared_ptr<const nnapi::DeviceProfile> device = {};
  Techniques techniques = {};
  bool tries_all = false;  // tries every other range of every tensor, however long that takes
  // Operations stay float, those that lose most first, until the results on the samples held back meet the target.
  Target target = {};
  // Scores the results on the samples held back; empty: no score.
  Scoring scoring = {};
  // Is called with the number of runs of the model that are done, and the number that it probably takes.
  std::function<void(size_t done, size_t all)> on_progress = {};
};

struct Samples {
  std::vector<KeptSample> calibration;  // samples from which ranges come; some of them choose between ways
  std::vector<KeptSample> held_back;    // samples that judge the results; they have no part in the choice
  Classes classes = {};                 // the classes of held_back; empty: not known
  ClassOutput class_output = {};        // the output that tells them
};

}  // namespace nnapi_convert::quantise
