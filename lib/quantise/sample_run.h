// SPDX-License-Identifier: BSD-3-Clause
// Runs the original on samples, and checks whether it runs at all.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lib/converter/frontend/arguments.h"
#include "lib/converter/load/load.h"
#include "lib/converter/samples/calibration_samples.h"

namespace nnapi_convert {

// Returns the arguments of the original's forward for a sample; `interface` is of a model that NNAPI runs whole.
InputTuple arguments_for(const LoadedModel& loaded, const ModuleInterface& interface,
                         const std::vector<at::Tensor>& sample);

// For inputs with flexible sizes, runs the original on a sample of each of the first few sizes that the samples have.
// Throws ConvertError (kNotConvertible) if PyTorch fails: such a model is made for one size, as by anchors that it
// holds.
void check_runs_on_samples(const LoadedModel& loaded, const ModuleInterface& interface,
                           const CalibrationSamples& samples);

}  // namespace nnapi_convert
