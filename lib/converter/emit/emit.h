// Writes the buffers of a plan's segments and makes the module that calls them. The host module around segments is left
// away where one segment is all of forward.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/planned_model.h"

namespace nnapi_convert {

// The plan in numbers, without a module. Takes the plan's NNAPI models.
Conversion describe(PlannedModel& planned, const ConvertOptions& options);

// `loaded` gives its module away, so that weights are freed as they are converted.
Conversion emit(PlannedModel& planned, LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                Stages& stages);

}  // namespace nnapi_convert
