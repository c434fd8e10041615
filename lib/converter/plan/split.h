// SPDX-License-Identifier: BSD-3-Clause
// Plans a model that NNAPI can't run as a whole: divides its graph into segments and steps of the CPU.
#pragma once

#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

// Divides the graph. `refusal` says why the whole graph can't be one segment. Throws ConvertError (kNotConvertible),
// with that reason, if the model can't be split either: an operation is not row-wise along a flexible size, or no
// segment is worth a call of NNAPI. Throws ConvertError with another message if --quant is impossible. `float32`: see
// partition.h.
PlannedModel split(Frontend& frontend, const PlanOptions& options, const SegmentRefusal& refusal,
                   Diagnostics& diagnostics, Stages& stages, const Float32Values& float32 = {});

}  // namespace nnapi_convert
