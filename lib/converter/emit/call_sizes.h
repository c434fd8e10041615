// SPDX-License-Identifier: BSD-3-Clause
// Chooses the open sizes of the call of the whole model that a sample is for.
#pragma once

#include "lib/converter/load/load.h"
#include "lib/quantise/check_inputs.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Returns the usual sizes, or the nearest ones within the ranges that forward checks; the sizes of an exported
// program's example where those break another condition. `interface` is that of forward.
CallSizes call_sizes_of(const ModuleInterface& interface, const LoadedModel& loaded);

}  // namespace nnapi_convert
