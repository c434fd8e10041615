// SPDX-License-Identifier: BSD-3-Clause
// Keeps the values of a converted model within float16's range where drivers may compute in half precision.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// With options.relax_fp16: runs the plan's models on `samples`, or, without any, on the bundled inputs or, for a whole
// model, on seeded numbers, and divides tensors that leave float16's range by powers of two. Tensors that can't be
// divided keep float32: with `may_split`, a whole model is split into segments that keep float32 and others that don't;
// otherwise the whole model keeps it, as does a segment of a model that is split already. Warns of each. Returns
// whether drivers may compute in half precision anywhere.
bool fit_into_half_range(PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                         const CalibrationSamples& samples, bool may_split, Diagnostics& diagnostics);

}  // namespace nnapi_convert
