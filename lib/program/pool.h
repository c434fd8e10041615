// SPDX-License-Identifier: BSD-3-Clause
// Memory of calls. Freed memory is kept by its size and given out again, so that calls with the same sizes allocate
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_shim::program {

// Not for several threads at once.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();  // also frees memory that was not given back

  // Returns memory aligned to 64 bytes, or null if there is none, even after freeing all kept memory. The content is
  // undefined.
  void* take(size_t bytes);
  void give_back(void* memory);

  // Limits the reserved bytes; take() returns null for more.
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t bytes_in_use() const { return in_use_; }
  size_t bytes_reserved() const { return reserved_; }  // includes memory that is kept for later

 private:
  struct Header;  // in front of each block, 64 bytes
  static constexpr size_t kClasses = 256;

  Header* make(size_t number, size_t capacity);
  void drop(Header* block);
  void drop_free();

  Header* free_[kClasses] = {};
  Header* all_ = nullptr;
  size_t in_use_ = 0, reserved_ = 0, limit_ = SIZE_MAX;
};

}  // namespace nnapi_shim::program
