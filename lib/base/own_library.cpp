// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/own_library.h"

#include <filesystem>

namespace nnapi_convert {

namespace fs = std::filesystem;

std::string own_library_path(const std::string& name, const std::string& built) {
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const fs::path in_build = root / "lib" / built / name;
  return fs::exists(in_build) ? in_build.string() : (root / NNAPI_CONVERT_LIBRARY_FOLDER / name).string();
}

}  // namespace nnapi_convert
