// SPDX-License-Identifier: BSD-3-Clause
// Stores weights of a plan's models as int8, as far as that is exact enough.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/serialize/int8_weights.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// With --int8-weights: runs the plan's models on the first of `given`, or, without any, of the bundled inputs, or on
// seeded numbers, with float weights and with int8 ones. If a model can't be run, all its weights become int8, and a
// warning says so. Weights that are integers already stay as they are.
StoredWeights store_weights_as_int8(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                                    const CalibrationSamples& given, Diagnostics& diagnostics);

}  // namespace nnapi_convert
