// SPDX-License-Identifier: BSD-3-Clause
// Memory for large tensors, which goes back to the system as soon as it isn't needed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace nnapi_convert {

// An allocator that gives large blocks pages of their own. The heap would keep freed blocks, in pieces between blocks
// that are still used.
template <typename T>
class LargePages {
 public:
  using value_type = T;

  LargePages() = default;
  template <typename U>
  LargePages(const LargePages<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): allocators convert so

  T* allocate(size_t count) {
    if (!is_large(count)) return std::allocator<T>().allocate(count);
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* pages = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* data, size_t count) {
    if (!is_large(count)) return std::allocator<T>().deallocate(data, count);
    ::munmap(data, count * sizeof(T));
  }

  bool operator==(const LargePages& /*other*/) const { return true; }
  bool operator!=(const LargePages& /*other*/) const { return false; }

 private:
  static bool is_large(size_t count) {
    constexpr size_t kLarge = size_t{1} << 18;
    return count >= kLarge / sizeof(T);
  }
};

}  // namespace nnapi_convert
