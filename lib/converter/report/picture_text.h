// SPDX-License-Identifier: BSD-3-Clause
// Tells in words how pictures become a model's input.
#pragma once

#include <string>

#include "lib/types/calibration_options.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns, for example, "pictures, the shorter side made 256 pixels, ..., 0 to 1, mean 0.5, std 0.5, RGB".
std::string to_text(const PictureChoice& pictures);
// Returns, for example, "pixels as bytes, red, green, blue, or gray; the original's are 0 to 1, mean 0.5, std 0.5,
// RGB".
std::string to_text(const PixelInput& pixels);

}  // namespace nnapi_convert
