// SPDX-License-Identifier: BSD-3-Clause
// The samples that judge a quantised model: those held back of the choice, or all where none is.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/base/held_back.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/sample_truth.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// Returns which samples to hold back. Proving a drop of top-1 may need more of them than other targets: up to half of
// all. The number of rows of a sample is only known for a whole model.
HoldBack hold_back_for(const PlannedModel& planned, size_t count, const CalibrationOptions& calibration,
                       bool has_classes, bool has_scoring);

// Returns the classes of the judging samples, from those of all `count` samples.
SampleTruth held_back_truth(const SampleTruth& truth, size_t count, const HoldBack& rule);

struct Judging {
  std::vector<SampleName> names;
  CalibrationSamples samples;
};
Judging judging_of(const CalibrationData& data, const HoldBack& rule);

}  // namespace nnapi_convert
