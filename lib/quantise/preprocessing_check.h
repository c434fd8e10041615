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

// Warns if --mean, --std, --pixel-max or --bgr may be wrong, and names the best of the usual choices, if one is clearly
// better than the given one:
// - The first three batch norms keep the means and variances that their inputs had in training. Those of the pictures
//   are compared with them, as normal distributions: by the Kullback-Leibler divergence, the mean over channels and
//   norms. It is less than 0.1 on pictures like those of the training. Names another choice if its divergence is less
//   than a third of the given one's, and that is more than 0.05; without such a choice warns of more than 0.5.
// - A classifier, if the pictures' classes are known, gets no more of them right than by chance. Names another choice
//   if that gets clearly more right (Wilson's intervals apart, and the lower bound above twice chance).
// Does nothing for samples that are no pictures, and for bytes, which the model normalises itself.
void check_preprocessing(const CalibrationOptions& calibration, const CalibrationData& data, const SampleTruth& truth,
                         const PlannedModel& planned, Frontend& frontend, Diagnostics& diagnostics);

}  // namespace nnapi_convert
