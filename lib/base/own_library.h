// SPDX-License-Identifier: BSD-3-Clause
// Finds the program's own libraries, which the program loads when it needs them.
#pragma once

#include <string>

namespace nnapi_convert {

// Returns the path of a library that comes with the program: in the build folder, where it is in `built` below "lib",
// or in the installation, wherever the installation is. The file need not exist.
std::string own_library_path(const std::string& name, const std::string& built);

}  // namespace nnapi_convert
