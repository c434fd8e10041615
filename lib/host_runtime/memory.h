// A mapping of a file descriptor, for constants, inputs and outputs.
#pragma once

#include <cstddef>
#include <memory>

namespace nnapi_convert::host {

class Memory {
 public:
  Memory(std::size_t size, int protect, int fd, std::size_t offset);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Fails where [offset, offset + length) is not inside.
  char* at(std::size_t offset, std::size_t length) const;
  bool writable() const { return writable_; }

 private:
  std::size_t size_;
  bool writable_;
  std::size_t skipped_;  // from the page's start to the caller's offset
  void* base_;
};

}  // namespace nnapi_convert::host
