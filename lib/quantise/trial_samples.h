// SPDX-License-Identifier: BSD-3-Clause
// Makes inputs for trial runs of a plan's models: the user's samples, or seeded numbers.
#pragma once

#include <vector>

#include "lib/converter/frontend/frontend.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/converter/plan/segment.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/kept_sample.h"

namespace nnapi_convert {

// Returns at most `most` of the given samples, or, without any, of the model's bundled inputs that have a tensor for
// each of `inputs` arguments.
std::vector<InputTuple> real_samples(const LoadedModel& loaded, const CalibrationSamples& given, size_t inputs,
                                     size_t most);

// Samples as callers of forward have them, and as NNAPI's model takes them.
struct TrialSamples {
  CalibrationSamples callers;
  std::vector<quantise::KeptSample> physical;
  bool are_real = false;  // not seeded
};

// Returns the real samples, or, without any, `count` seeded ones. Throws NoSample.
TrialSamples trial_samples(const NnapiPart& part, const IndexRanges& ranges, const std::vector<InputTuple>& real,
                           size_t count);

// Returns the ranges of the indices that the arguments of a whole model hold.
IndexRanges ranges_of_arguments(Frontend& frontend, const ModuleInterface& interface);

// Returns the ranges of the indices that a segment reads.
IndexRanges ranges_of_segment(const Segment& segment);

}  // namespace nnapi_convert
