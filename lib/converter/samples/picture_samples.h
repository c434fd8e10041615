// SPDX-License-Identifier: BSD-3-Clause
// Pictures as samples: tensors as the model's only input takes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/base/picture_list.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

struct PictureSample {
  const at::Tensor& tensor;
  const calibration::ListedPicture& picture;
  size_t number = 0;               // among the pictures of the source, also those that are not used
  uint32_t width = 0, height = 0;  // of the picture
};

using AddPicture = std::function<void(const PictureSample& sample)>;

// Calls `add` with each picture of the source that is used, and returns all that it has. Reads on where single pictures
// can't be read, with a warning. Throws ConvertError: kBadFile where none can be read, or the model takes no pictures;
// kUsage for options that don't go together.
std::vector<calibration::ListedPicture> read_pictures(const CalibrationOptions& options,
                                                      const ModuleInterface& interface, Diagnostics& diagnostics,
                                                      const AddPicture& add);

}  // namespace nnapi_convert
