// Whether the original runs on the samples at all.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/converter/samples/calibration_samples.h"

namespace nnapi_convert {

// Of inputs with flexible sizes: runs the original on a sample of each size that the samples have, of the first few
// sizes. Throws ConvertError (kNotConvertible) where PyTorch can't: such a model is made for one size, as by anchors
// that it holds.
void check_runs_on_samples(const LoadedModel& loaded, const ModuleInterface& interface,
                           const CalibrationSamples& samples);

}  // namespace nnapi_convert
