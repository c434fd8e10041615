// Where the program's own libraries lie, which it loads when they are needed.
#pragma once

#include <string>

namespace nnapi_convert {

// The path of a library that comes with the program: in the build folder, where it is in `built` below "lib", or in the
// installation, wherever that was put. The file need not exist.
std::string own_library_path(const std::string& name, const std::string& built);

}  // namespace nnapi_convert
