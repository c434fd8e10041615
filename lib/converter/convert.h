// SPDX-License-Identifier: BSD-3-Clause
// The whole conversion, from a loaded TorchScript module to the module that runs on NNAPI.
#pragma once

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/emit/emit_methods.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/load/load.h"
#include "lib/types/calibration_options.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the front end of a conversion with these options: convert() and plan_conversion() may differ from them in the
// feature level, device and layout only.
Frontend make_frontend(LoadedModel loaded, const ConvertOptions& options, const CalibrationOptions& calibration = {});

// Converts the model. Throws ConvertError. Adds each refused node to `diagnostics.refusals`, and names it in the
// message unless the model is split. Frees each weight of the model that nothing else holds.
Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics);

// Converts the model by a front end that may have made other plans before, and releases the front end. Quantises the
// model by data where that is asked for (docs/quantising.md); `class_names` are those of --labels.
Conversion convert(Frontend& frontend, const ConvertOptions& options, const CalibrationOptions& calibration,
                   const std::vector<std::string>& class_names, Diagnostics& diagnostics);

// Finds the results that --split-output splits: those that join parts of unlike ranges. Warns where there are none.
// Throws ConvertError as convert() does.
std::vector<ResultSplit> splits_of(LoadedModel loaded, const ConvertOptions& options,
                                   const CalibrationOptions& calibration, Diagnostics& diagnostics);

// Converts these methods of the model to one module; its other methods stay as they are, and all see the same state.
// Messages about a method name it. Throws ConvertError (kUsage) for methods that the model lacks.
MethodsConversion convert_methods(const LoadedModel& loaded, const std::vector<std::string>& methods,
                                  const ConvertOptions& options, Diagnostics& diagnostics);

// Returns `options` with the inputs that --input gives for this one of the methods (method_view.h).
ConvertOptions options_of_method(const LoadedModel& loaded, const std::vector<std::string>& methods,
                                 const std::string& method, const ConvertOptions& options);

// Returns the numbers and NNAPI models of the conversion that convert() would make, without module, weights or buffer.
// Errors, refusals and warnings are convert()'s, of all stages before the buffer is written.
Conversion plan_conversion(Frontend& frontend, const ConvertOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
