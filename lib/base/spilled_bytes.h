// SPDX-License-Identifier: BSD-3-Clause
// Keeps data in a temporary file until they are read again, so that they take no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert {

// All objects of a process share one file, which has no name and is deleted when the process ends. The destructor frees
// the object's part of the file for others.
class SpilledBytes {
 public:
  // Keeps the data in memory where no temporary file can be written.
  SpilledBytes(const void* data, size_t size);
  ~SpilledBytes();
  SpilledBytes(const SpilledBytes&) = delete;
  SpilledBytes& operator=(const SpilledBytes&) = delete;

  size_t size() const { return size_; }
  bool is_in_file() const { return in_memory_.empty(); }
  // Copies the data to `to`. Throws std::system_error if they can't be read any more.
  void read(void* to) const;

 private:
  size_t size_;
  uint64_t begin_ = 0;
  std::vector<uint8_t> in_memory_;
};

}  // namespace nnapi_convert
