#include "lib/calibration/file_bytes.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "lib/base/error.h"

namespace nnapi_convert::calibration {

namespace {

std::ifstream opened(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, std::strerror(errno)));
  return stream;
}

}  // namespace

void check_readable(const std::string& path) {
  opened(path);
}

std::vector<uint8_t> file_bytes(const std::string& path) {
  std::ifstream stream = opened(path);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}", path));
  return bytes;
}

}  // namespace nnapi_convert::calibration
