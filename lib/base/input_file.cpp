// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nnapi_convert {
namespace {

// Returns a sentence about the kind of a file that is not regular; empty for a regular file.
std::string problem_of_kind(mode_t mode) {
  if (S_ISREG(mode)) return "";
  return S_ISDIR(mode) ? "it is a folder; a file is needed" : "it is a pipe or a device; a regular file is needed";
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK opening a pipe waits for its writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    problem_ = errno == ENXIO ? problem_of_kind(S_IFSOCK) : std::strerror(errno);
  } else {
    problem_ = problem_of_kind(status.st_mode);
    bytes_ = static_cast<uint64_t>(status.st_size);
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

size_t InputFile::read(void* to, size_t size) {
  while (problem_.empty()) {
    const ssize_t count = ::read(descriptor_, to, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) problem_ = std::strerror(errno);
  }
  return 0;
}

std::optional<std::string> text_of_file(const std::filesystem::path& path, std::string& problem) {
  constexpr size_t kBlock = 1 << 16;
  InputFile file(path);
  std::string text, block(kBlock, '\0');
  while (const size_t count = file.read(block.data(), block.size())) text.append(block, 0, count);
  problem = file.problem();
  return problem.empty() ? std::optional(std::move(text)) : std::nullopt;
}

std::string problem_of_library(const std::string& path) {
  struct stat status {};
  const bool is_looked_for = path.find('/') == std::string::npos;
  if (is_looked_for || ::stat(path.c_str(), &status) != 0) return "";
  return problem_of_kind(status.st_mode);
}

}  // namespace nnapi_convert
