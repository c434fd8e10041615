// SPDX-License-Identifier: BSD-3-Clause
// Opens files for data that a program writes and reads back.
#pragma once

#include <filesystem>

namespace nnapi_convert {

// Opens an empty file in `folder` for reading and writing. The file has no name: it is deleted when it is closed.
// Returns -1, and `errno`, if the folder can't be written.
int open_unnamed(const std::filesystem::path& folder);

}  // namespace nnapi_convert
