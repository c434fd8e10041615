#include "lib/host_runtime/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

Memory::Memory(std::size_t size, int protect, int fd, std::size_t offset)
    : size_(size), writable_((protect & PROT_WRITE) != 0) {
  constexpr std::size_t kMax = std::numeric_limits<int64_t>::max();
  if (size == 0) bad_data("memory: size 0 found, at least 1 needed");
  if (fd < 0) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} found", fd);
  if (offset > kMax || size > kMax - offset)
    bad_data("memory: offset {} and size {} found, beyond any file", offset, size);
  struct stat status {};
  if (fstat(fd, &status) != 0) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} is not open", fd);
  if (S_ISREG(status.st_mode) && offset + size > static_cast<uint64_t>(status.st_size)) {
    bad_data("memory: offset {} and size {} found in a file of {} bytes", offset, size, status.st_size);
  }
  skipped_ = offset % static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  base_ = mmap(nullptr, size + skipped_, protect, MAP_SHARED, fd, static_cast<off_t>(offset - skipped_));
  if (base_ == MAP_FAILED) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} cannot be mapped", fd);
}

Memory::~Memory() {
  munmap(base_, size_ + skipped_);
}

char* Memory::at(std::size_t offset, std::size_t length) const {
  if (offset > size_ || length > size_ - offset) {
    bad_data("memory: offset {} and length {} found in {} bytes", offset, length, size_);
  }
  return static_cast<char*>(base_) + skipped_ + offset;
}

}  // namespace nnapi_convert::host
