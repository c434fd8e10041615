// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/unnamed_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace nnapi_convert {

int open_unnamed(const std::filesystem::path& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (unnamed >= 0) return unnamed;
  // This file system has no unnamed files (O_TMPFILE): makes a named one and unlinks it.
  std::string path = (folder / ".nnapi-convert-XXXXXX").string();
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(path.c_str());
  return descriptor;
}

}  // namespace nnapi_convert
