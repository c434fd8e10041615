// SPDX-License-Identifier: BSD-3-Clause
// Pictures (JPEG, PNG) as files hold them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// Rows of pixels, each of 3 bytes: red, green, blue.
struct Picture {
  size_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

// Throws ConvertError (kBadFile) for what is no JPEG or PNG, or is damaged.
Picture read_picture(const std::string& path);

}  // namespace nnapi_convert::calibration
