// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/files_ready.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/standard_output.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

void check_can_read(const NamedFile& file) {
  const bool is_looked_for = file.also == AlsoFits::kLibraryName && !file.path.has_parent_path();
  if (is_looked_for || ::access(file.path.c_str(), R_OK) == 0) return;
  const char* missing = !file.path.has_filename()        ? "no such folder"
                        : file.also == AlsoFits::kFolder ? "no such file or folder"
                                                         : "no such file";
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", file.path.string(),
                                                     errno == ENOENT ? missing : std::strerror(errno)));
}

// Makes a staging folder beside the file's place, as writing the file will, and removes it again.
void check_can_write(const NamedFile& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file.path, ignored);
  if (file.also == AlsoFits::kPipe && (fs::is_character_file(status) || fs::is_fifo(status))) return;
  const PendingFile trial(file.path);
}

}  // namespace

void check_files_ready(const FilesInUse& files) {
  for (const NamedFile& file : files.read) {
    if (!file.path.empty()) check_can_read(file);
  }
  for (const NamedFile& file : files.written) {
    if (!file.path.empty() && !is_standard_output(file.path)) check_can_write(file);
  }
}

}  // namespace nnapi_convert
