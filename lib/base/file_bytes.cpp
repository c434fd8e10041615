// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/file_bytes.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/base/input_file.h"

namespace nnapi_convert::calibration {

namespace {

[[noreturn]] void fail_to_read(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
}

}  // namespace

void check_readable(const std::string& path) {
  const InputFile file(path);
  if (!file.problem().empty()) fail_to_read(path, file.problem());
}

std::vector<uint8_t> file_bytes(const std::string& path) {
  InputFile file(path);
  std::vector<uint8_t> bytes(static_cast<size_t>(file.bytes()) + 1);
  size_t end = 0;
  while (true) {
    if (end == bytes.size()) bytes.resize(2 * end);  // the file grew since it was opened
    const size_t count = file.read(bytes.data() + end, bytes.size() - end);
    if (count == 0) break;
    end += count;
  }
  if (!file.problem().empty()) fail_to_read(path, file.problem());
  bytes.resize(end);
  return bytes;
}

}  // namespace nnapi_convert::calibration
