// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nnapi_convert {
namespace {

// Measured on ext4: writing in pieces of a megabyte and more may take seven times the CPU time of smaller pieces. Linux
// then looks for large unused pages instead of the pages that were freed last.
constexpr size_t kPieceBytes = size_t{1} << 18;

}  // namespace

OutputFile::OutputFile(const std::string& path)
    : OutputFile(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}

OutputFile::OutputFile(int descriptor) : descriptor_(descriptor) {
  note_error(descriptor_);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::reserve(uint64_t bytes) {
  if (error_ != 0) return;
  const int result = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes));
  if (result == 0 || errno == ENOSPC) reserved_ = bytes;  // a full disk may have set a part of them apart
}

void OutputFile::append(const void* data, size_t size) {
  const char* begin = static_cast<const char*>(data);
  while (size > 0 && error_ == 0) {
    const ssize_t written = ::write(descriptor_, begin, std::min(size, kPieceBytes));
    if (written < 0 && errno == EINTR) continue;
    note_error(written);
    if (written <= 0) continue;
    begin += written;
    written_ += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
}

std::string OutputFile::finish() {
  if (written_ < reserved_) note_error(::ftruncate(descriptor_, static_cast<off_t>(written_)));
  if (descriptor_ >= 0) note_error(::close(std::exchange(descriptor_, -1)));
  return error_ == 0 ? "" : std::strerror(error_);
}

void OutputFile::note_error(ptrdiff_t result) {
  if (result < 0 && error_ == 0) error_ = errno;
}

}  // namespace nnapi_convert
