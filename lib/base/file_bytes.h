// SPDX-License-Identifier: BSD-3-Clause
// Reads whole files into memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// Returns the file's content. Throws ConvertError (kBadFile) if it can't be read.
std::vector<uint8_t> file_bytes(const std::string& path);
// Throws ConvertError (kBadFile) where file_bytes() would.
void check_readable(const std::string& path);

}  // namespace nnapi_convert::calibration
