// The stage quantise: gives the models of a plan integer forms, by data.
#pragma once

#include <optional>
#include <string>

#include "lib/base/diagnostics.h"
#include "lib/converter/load/load.h"
#include "lib/converter/options/calibration_options.h"
#include "lib/converter/options/options.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/quantise.h"

namespace nnapi_convert {

// Changes the plan's model and its interface, as options.quant asks for; auto is nnapi. Returns the first samples in
// `first`. Throws ConvertError: kUsage for
// a model that is quantised already, and as read_calibration() and quantise::quantise() do.
quantise::Report quantise_plan(PlannedModel& planned, const LoadedModel& loaded, const ConvertOptions& options,
                               const CalibrationOptions& calibration, CalibrationSamples& first,
                               Diagnostics& diagnostics, Stages& stages);

// What was done and how near it comes, in words.
std::string to_text(const quantise::Report& report);

}  // namespace nnapi_convert
