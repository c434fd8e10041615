// The whole graph as one segment, which is offered to NNAPI before the graph is split.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/planned_model.h"

namespace nnapi_convert {

// A plan of one segment, or one with a refusal and nothing else. Throws ConvertError where no part of the model can be
// converted either: OriginalFails, and kUsage.
PlannedModel offer_whole(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                         Stages& stages);

}  // namespace nnapi_convert
