// SPDX-License-Identifier: BSD-3-Clause
// Offers the whole graph to NNAPI as one segment, before the graph is split.
#pragma once

#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

// Returns a plan of one segment, or a plan with only a refusal. Throws ConvertError if splitting can't help either:
// OriginalFails, and kUsage.
PlannedModel offer_whole(Frontend& frontend, const PlanOptions& options, Diagnostics& diagnostics, Stages& stages);

}  // namespace nnapi_convert
