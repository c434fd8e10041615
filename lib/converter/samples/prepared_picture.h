// SPDX-License-Identifier: BSD-3-Clause
// Pictures as a network takes them: resized, cut out and normalised by the code that the shim has on the phone
// (lib/format/picture_input.h).
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/picture.h"
#include "lib/format/picture_input.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// The size of the pictures that a network takes: 3 channels, or 1, which is brightness; 0 for sizes that are free.
struct PictureSize {
  int64_t channels = 3, height = 0, width = 0;
};

struct PictureTensor {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<float> values;  // in the order channel, row, column
};

pictures::Preparation preparation_of(const PictureChoice& choice);

// Prepares a picture. Throws ConvertError (kBadFile) where it has another size after resize and crop.
PictureTensor prepared(const calibration::Picture& picture, const PictureSize& size, const pictures::Preparation& how);

}  // namespace nnapi_convert
