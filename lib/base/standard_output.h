// SPDX-License-Identifier: BSD-3-Clause
// Handles standard output that other programs read.
#pragma once

#include <filesystem>

namespace nnapi_convert {

// Returns true for "-" and for the system's names of standard output, such as /dev/stdout.
bool is_standard_output(const std::filesystem::path& path);

// Flushes std::cout. Throws ConvertError (kBadFile) if not all output was written, for example on a full disk.
void flush_standard_output();

}  // namespace nnapi_convert
