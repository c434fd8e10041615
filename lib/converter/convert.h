// The whole conversion, from a loaded TorchScript module to the module that runs on NNAPI.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"
#include "lib/converter/options/calibration_options.h"
#include "lib/converter/options/options.h"

namespace nnapi_convert {

// Converts the model. Throws ConvertError. Adds each refused node to `diagnostics.refusals`, and names it in the
// message unless the model is split. Frees each weight of `loaded` that nothing else holds.
Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics);

// The same, and the model is quantised by data where that is asked for (docs/quantising.md).
Conversion convert(LoadedModel loaded, const ConvertOptions& options, const CalibrationOptions& calibration,
                   Diagnostics& diagnostics);

// What convert() would convert, with the same errors, refusals and warnings of all stages before the buffer is written:
// models and numbers, but no module, weights or buffer.
Conversion plan_conversion(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
