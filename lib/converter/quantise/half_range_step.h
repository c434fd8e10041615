// Keeps the values of a converted model within float16's range where drivers may compute in half precision.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/load/load.h"
#include "lib/converter/options/options.h"
#include "lib/converter/partition/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"

namespace nnapi_convert {

// With options.relax_fp16: runs the plan's model on `samples`, or, without any, on the bundled inputs or on seeded
// numbers, and divides tensors that leave float16's range by powers of two. Warns of each. Returns whether drivers may
// compute in half precision: false if some tensor leaves the range still, and the model has to stay float32. A
// partitioned model stays as it is, with a warning.
bool fit_into_half_range(PlannedModel& planned, const LoadedModel& loaded, const ConvertOptions& options,
                         const CalibrationSamples& samples, Diagnostics& diagnostics);

}  // namespace nnapi_convert
