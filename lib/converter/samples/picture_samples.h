// Pictures as samples: tensors as the model's only input takes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "lib/base/diagnostics.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

using AddPicture = std::function<void(const at::Tensor& picture, const std::string& path)>;

// Calls `add` with each picture of the source. Reads on where single pictures can't be read, with a warning. Throws
// ConvertError: kBadFile where none can be read, or the model takes no pictures; kUsage for options that don't go
// together.
void read_pictures(const CalibrationOptions& options, const ModuleInterface& interface, Diagnostics& diagnostics,
                   const AddPicture& add);

}  // namespace nnapi_convert
