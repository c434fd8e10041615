// Plans a model that NNAPI doesn't run whole: segments of its graph, and what stays on the CPU.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/planned_model.h"

namespace nnapi_convert {

// `refusal` says why the whole can't be one segment; ConvertError (kNotConvertible) says so where the model can't be
// split either: a flexible size is not one of rows, or no segment is worth a call of NNAPI. Where --quant can't be had,
// another ConvertError says why.
PlannedModel split(const LoadedModel& loaded, const ConvertOptions& options, const SegmentRefusal& refusal,
                   Diagnostics& diagnostics, Stages& stages);

// The graph that split() takes apart, with values of the same names, as TorchScript runs it: operations that NNAPI
// alone has aren't in it. It takes what the converted module takes.
NormalisedModel split_reference(const LoadedModel& loaded, const ConvertOptions& options);

}  // namespace nnapi_convert
