// SPDX-License-Identifier: BSD-3-Clause
// Memory of a call: what is freed is kept by its size and given out again, so that calls that repeat their sizes
// allocate nothing.
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
  ~Pool();  // frees also what was not given back

  // Returns memory aligned to 64 bytes, or null if there is none, even without what is kept. The content is undefined.
  void* take(size_t bytes);
  void give_back(void* memory);

  // At most so many bytes are reserved; take() returns null for more.
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t bytes_in_use() const { return in_use_; }
  size_t bytes_reserved() const { return reserved_; }  // with what is kept for later

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
