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

// Its name, and what gives the number. The results are one by sample held back, of the float model or of integers.
struct Scoring {
  std::string name = {};
  std::function<double(const Results& results, bool is_float)> of = {};
  bool is_share = true;  // as in Score
};

struct Options {
  int feature_level = 3;
  bool per_channel = false;                  // where a filter may have a scale for each channel
  bool symmetric_weights = false;            // of filters with one scale, as LiteRT's int8 needs
  bool integer_inputs = false;               // the caller hands over integers
  bool integer_outputs = false;              // and gets them
  std::vector<std::string> keep_float = {};  // operations: by NNAPI's name, the result's name, or the source line
  // Operations whose integer form it refuses stay float where it takes that; null: any device of the feature level.
  std::shared_ptr<const nnapi::DeviceProfile> device = {};
  Techniques techniques = {};
  bool tries_all = false;  // every other range of every tensor, however long that takes
  // Operations stay float, those that cost most first, until the results on the samples held back keep to it.
  Target target = {};
  // Gives results on the samples held back a number; empty: nothing does.
  Scoring scoring = {};
  // Called with the runs of the model that are done, and how many it probably takes.
  std::function<void(size_t done, size_t all)> on_progress = {};
};

struct Samples {
  std::vector<KeptSample> calibration;  // that ranges come from; some of them choose between ways
  std::vector<KeptSample> held_back;    // that the results are judged by; they have no part in the choice
  Classes classes = {};                 // of those held back; empty: not known
  ClassOutput class_output = {};        // the output that tells them
};

}  // namespace nnapi_convert::quantise
