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

// A drop of top-1 may need more samples held back to be proven than others: up to a half of all. How many rows a sample
// has is known of a whole model.
HoldBack hold_back_for(const PlannedModel& planned, size_t count, const CalibrationOptions& calibration,
                       bool has_classes, bool has_scoring);

// The classes of the samples that judge, out of those of all `count`.
SampleTruth held_back_truth(const SampleTruth& truth, size_t count, const HoldBack& rule);

struct Judging {
  std::vector<SampleName> names;
  CalibrationSamples samples;
};
Judging judging_of(const CalibrationData& data, const HoldBack& rule);

}  // namespace nnapi_convert
