// SPDX-License-Identifier: BSD-3-Clause
// Checks whether the calibration's pictures are normalised like those with which the model was trained. No distance
// from float shows that they are not.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/sample_truth.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// Warns where --mean, --std, --pixel-max or --bgr may be wrong, and names the best of the usual choices, if one is
// clearly better than what is given:
// - The first three batch norms keep what mean and variance their inputs had in training. The pictures' own are
// compared
//   with those, as normal distributions: the Kullback-Leibler divergence, the mean over channels and norms. Networks
//   have less than 0.1 on pictures like those of their training. Another choice is named where it has less than a third
//   of what is given, and that is more than 0.05; without such a choice more than 0.5 is warned of.
// - A classifier that gets no more pictures right than by chance, where their classes are known. Another choice is
// named
//   where it is right on clearly more of them (Wilson's intervals apart, and the lower bound above twice chance).
// Does nothing for samples that are no pictures, and for bytes, which the model normalises itself.
void check_preprocessing(const CalibrationOptions& calibration, const CalibrationData& data, const SampleTruth& truth,
                         const PlannedModel& planned, Frontend& frontend, Diagnostics& diagnostics);

}  // namespace nnapi_convert
