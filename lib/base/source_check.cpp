// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/source_check.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/base/error.h"

namespace nnapi_convert {

void SourceCheck::add(const void* begin, uint64_t bytes) {
  if (is_right_ || bytes == 0 || begin != begin_ + done_) return;
  const uint64_t size = std::min(bytes, bytes_ - done_);
  sum_ = libdeflate_crc32(sum_, begin, static_cast<size_t>(size));
  done_ += size;
  if (done_ == bytes_) compare(sum_);
}

SourceChecks::SourceChecks(int file) : file_(::fcntl(file, F_DUPFD_CLOEXEC, 0)) {}

SourceChecks::~SourceChecks() {
  if (file_ >= 0) ::close(file_);
}

void SourceChecks::add(const std::shared_ptr<SourceCheck>& check, uint64_t position) {
  entries_.push_back({check, position});
}

void SourceChecks::finish() {
  for (const Entry& entry : entries_) {
    if (!entry.check->is_right_) read_whole(*entry.check, entry.position);
    if (!entry.check->is_right_) throw ConvertError(ExitCode::kBadFile, entry.check->problem_);
  }
}

void SourceChecks::read_whole(SourceCheck& check, uint64_t position) const {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 18;
  std::vector<uint8_t> piece(static_cast<size_t>(std::min(kPieceBytes, check.bytes_)));
  uint32_t sum = 0;
  for (uint64_t done = 0; done < check.bytes_;) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(piece.size(), check.bytes_ - done));
    const ssize_t count = ::pread(file_, piece.data(), size, static_cast<off_t>(position + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw ConvertError(ExitCode::kBadFile, std::string("can't read the model's weights: ") +
                                                 (count < 0 ? std::strerror(errno) : "the file has become shorter"));
    }
    sum = libdeflate_crc32(sum, piece.data(), static_cast<size_t>(count));
    done += static_cast<uint64_t>(count);
  }
  check.compare(sum);
}

}  // namespace nnapi_convert
