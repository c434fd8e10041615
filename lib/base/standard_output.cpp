// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/standard_output.h"

#include <array>
#include <iostream>

#include "lib/base/error.h"

namespace nnapi_convert {

bool is_standard_output(const std::filesystem::path& path) {
  static const std::array<std::filesystem::path, 4> names = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (const std::filesystem::path& name : names) {
    if (path == name) return true;
  }
  return false;
}

void flush_standard_output() {
  if (std::cout.flush()) return;
  throw ConvertError(ExitCode::kBadFile, "can't write to standard output");
}

}  // namespace nnapi_convert
