// SPDX-License-Identifier: BSD-3-Clause
// Holds memory objects: mappings of file descriptors, and device memories, which the runtime makes itself from a
// descriptor that lists their uses (NNAPI calls them memory domains).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/host_runtime/kernel.h"
#include "lib/host_runtime/memory_descriptor.h"

namespace nnapi_convert::host {

class Memory {
 public:
  virtual ~Memory() = default;
};

class MappedMemory : public Memory {
 public:
  MappedMemory(std::size_t size, int protect, int fd, std::size_t offset);
  ~MappedMemory() override;
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // Returns the address of `offset`; fails if [offset, offset + length) is not inside the memory.
  char* at(std::size_t offset, std::size_t length) const;
  std::size_t size() const { return size_; }
  bool readable() const { return readable_; }
  bool writable() const { return writable_; }

 private:
  std::size_t size_;
  bool readable_, writable_;
  std::size_t skipped_;  // from the page's start to the caller's offset
  void* base_;
};

// Holds one value with the extents that the last writer gave. Several threads may read and write it.
class DeviceMemory : public Memory {
 public:
  explicit DeviceMemory(const MemoryDescriptor& descriptor) : descriptor_(descriptor) {}

  const MemoryDescriptor& descriptor() const { return descriptor_; }
  // Returns the value; fails before the first write and after a failed one.
  Value read(const std::string& subject) const;
  void write(const Value& value);
  void invalidate();

 private:
  const MemoryDescriptor descriptor_;
  mutable std::mutex mutex_;
  std::optional<Value> value_;
};

// Copies `source` to `target` by the rules of ANeuralNetworksMemory_copy.
void copy(const Memory& source, Memory& target);

}  // namespace nnapi_convert::host
