// SPDX-License-Identifier: BSD-3-Clause
// Writes the buffers of a plan's segments and makes the module that calls them. If one segment is all of forward, no
// host module is made around it.
#pragma once

#include <memory>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/emit/partitioned_module.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

// Returns the plan in numbers, without a module. Moves the NNAPI models out of the plan.
Conversion describe(PlannedModel& planned, const ConvertOptions& options);

// Inputs of forward that the user gave, for the samples by which a file checks a device.
struct GivenSamples {
  std::vector<std::vector<at::Tensor>> tensors;  // may be empty
  bool is_calibrated = false;                    // the model was quantised by them
};

// The place of a method's module in a file of several methods.
struct MethodPlace {
  HostPlace host;
  std::vector<StateAttribute> state;  // of all methods
  std::shared_ptr<torch::jit::CompilationUnit> unit;
  std::shared_ptr<DeferredTensors> late;
};

// Makes the module of a plan for its place in a file of several methods. The module's forward is the method. It shares
// weights with the other methods.
Conversion emit_method(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                       const MethodPlace& place, Diagnostics& diagnostics, Stages& stages);

// Makes the module of the plan. Releases the front end that the plan was made by, and frees weights as they are
// converted.
Conversion emit(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options, const GivenSamples& given,
                Diagnostics& diagnostics, Stages& stages);

}  // namespace nnapi_convert
