// SPDX-License-Identifier: BSD-3-Clause
// The facts about a calibration's samples besides their values: the class of each, for the model's output that tells
// classes.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/accuracy.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

struct SampleTruth {
  quantise::Classes classes = {};  // by sample; empty: not known
  quantise::ClassOutput output = {};
  std::string source = {};  // the source of the classes, or why they are not known; may be empty

  bool has_classes() const { return !classes.empty(); }
};

// Returns the classes of the samples. `class_names` are those of --labels. Folders have no meaning for a model without
// an output of classes. Throws ConvertError: kUsage if classes are given and the model tells none, and as classes_of()
// does.
SampleTruth truth_of(const CalibrationOptions& calibration, const CalibrationData& data,
                     const std::vector<std::string>& class_names, const LoadedModel& loaded,
                     const PlannedModel& planned);

}  // namespace nnapi_convert
