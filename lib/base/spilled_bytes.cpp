// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/spilled_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "lib/base/unnamed_file.h"

namespace nnapi_convert {
namespace {

class SharedFile {
 public:
  SharedFile() {
    std::error_code no_folder;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(no_folder);
    if (!no_folder) descriptor_ = open_unnamed(folder);
  }

  // Returns where the data are written; false if they can't be.
  bool append(const void* data, size_t size, uint64_t& begin) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begin = end_;
    for (size_t done = 0; done < size;) {
      const ssize_t written =
          ::pwrite(descriptor_, static_cast<const char*>(data) + done, size - done, static_cast<off_t>(begin + done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      done += static_cast<size_t>(written);
    }
    end_ += size;
    return true;
  }

  void read(uint64_t begin, void* to, size_t size) const {
    for (size_t done = 0; done < size;) {
      const ssize_t read =
          ::pread(descriptor_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(begin + done));
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) throw std::system_error(read < 0 ? errno : EIO, std::generic_category(), "a temporary file");
      done += static_cast<size_t>(read);
    }
  }

  void free(uint64_t begin, size_t size) {
    ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(size));
  }

 private:
  std::mutex mutex_;
  int descriptor_ = -1;
  uint64_t end_ = 0;
};

// Never destroyed: SpilledBytes may outlive static objects.
SharedFile& shared_file() {
  static auto* const file = new SharedFile();
  return *file;
}

}  // namespace

SpilledBytes::SpilledBytes(const void* data, size_t size) : size_(size) {
  if (shared_file().append(data, size, begin_)) return;
  in_memory_.resize(size);
  if (size > 0) std::memcpy(in_memory_.data(), data, size);
}

SpilledBytes::~SpilledBytes() {
  if (is_in_file() && size_ > 0) shared_file().free(begin_, size_);
}

void SpilledBytes::read(void* to) const {
  if (is_in_file()) return shared_file().read(begin_, to, size_);
  std::memcpy(to, in_memory_.data(), size_);
}

}  // namespace nnapi_convert
