// SPDX-License-Identifier: BSD-3-Clause
// Finds the program's own file, and its libraries, which the program loads when it needs them.
#pragma once

#include <filesystem>
#include <string>

namespace nnapi_convert {

// Returns the path of the running program, without links. It is found without /proc, too, and where a loader was
// started with the program as its argument, as a bundle does (scripts/packages/make-bundle.sh). Throws ConvertError
// (kBadFile) if the system tells no path.
std::filesystem::path own_program_path();

// Returns the path of a library that comes with the program: in the build folder, where it is in `built` below "lib",
// or in the installation, wherever the installation is. The file need not exist.
std::string own_library_path(const std::string& name, const std::string& built);

}  // namespace nnapi_convert
