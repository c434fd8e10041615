// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/pool.h"

#include <algorithm>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)  // GCC; Clang has a feature
#define PROGRAM_POOL_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROGRAM_POOL_POISONS 1
#endif
#endif
#ifdef PROGRAM_POOL_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace nnapi_shim::program {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kSmallest = 64,
                 kSmallClasses = 16;  // up to 1024 bytes in steps of 64, then four steps for each doubling
constexpr size_t kMostBytes = size_t{1} << (sizeof(size_t) * 8 - 4);
constexpr size_t kMostLarger = 4;  // classes above the needed one, so that a block holds at most twice as much

// Returns the class of blocks that hold so many bytes, and how many they hold.
size_t class_of(size_t bytes, size_t* capacity) {
  if (bytes <= kSmallest * kSmallClasses) {
    const size_t number = bytes == 0 ? 0 : (bytes - 1) / kSmallest;
    *capacity = (number + 1) * kSmallest;
    return number;
  }
  size_t doubling = 10;  // 1 << doubling < bytes
  while (bytes > size_t{2} << doubling) ++doubling;
  const size_t step = size_t{1} << (doubling - 2);
  const size_t steps = (bytes - (size_t{1} << doubling) + step - 1) / step;  // 1 to 4
  *capacity = (size_t{1} << doubling) + steps * step;
  return kSmallClasses + (doubling - 10) * 4 + steps - 1;
}

// Lets the address sanitizer report uses of memory that is not given out.
void poison([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef PROGRAM_POOL_POISONS
  ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
}

void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef PROGRAM_POOL_POISONS
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
#endif
}

}  // namespace

struct Pool::Header {
  Header *before, *next;  // in the list of all blocks
  Header* next_free;
  size_t capacity, number;  // of the block's class
};

Pool::~Pool() {
  while (all_ != nullptr) drop(all_);
}

void* Pool::take(size_t bytes) {
  static_assert(sizeof(Header) <= kHeaderBytes, "the header is in front of aligned memory");
  if (bytes > kMostBytes) return nullptr;
  size_t capacity = 0;
  const size_t number = class_of(bytes, &capacity);
  Header* block = nullptr;
  for (size_t i = number; i < kClasses && i <= number + kMostLarger && block == nullptr; ++i) {
    block = free_[i];
    if (block != nullptr) free_[i] = block->next_free;
  }
  if (block == nullptr) block = make(number, capacity);
  if (block == nullptr) {
    drop_free();
    block = make(number, capacity);
    if (block == nullptr) return nullptr;
  }
  in_use_ += block->capacity;
  void* memory = reinterpret_cast<uint8_t*>(block) + kHeaderBytes;
  unpoison(memory, bytes);
  return memory;
}

void Pool::give_back(void* memory) {
  if (memory == nullptr) return;
  auto* block = reinterpret_cast<Header*>(static_cast<uint8_t*>(memory) - kHeaderBytes);
  in_use_ -= block->capacity;
  block->next_free = free_[block->number];
  free_[block->number] = block;
  poison(memory, block->capacity);
}

Pool::Header* Pool::make(size_t number, size_t capacity) {
  void* memory = nullptr;
  if (capacity > limit_ - std::min(limit_, reserved_)) return nullptr;
  if (::posix_memalign(&memory, kHeaderBytes, kHeaderBytes + capacity) != 0) return nullptr;
  auto* block = static_cast<Header*>(memory);
  *block = {nullptr, all_, nullptr, capacity, number};
  if (all_ != nullptr) all_->before = block;
  all_ = block;
  reserved_ += capacity;
  poison(static_cast<uint8_t*>(memory) + kHeaderBytes, capacity);
  return block;
}

void Pool::drop(Header* block) {
  (block->before != nullptr ? block->before->next : all_) = block->next;
  if (block->next != nullptr) block->next->before = block->before;
  reserved_ -= block->capacity;
  unpoison(block, kHeaderBytes + block->capacity);
  std::free(block);
}

void Pool::drop_free() {
  for (Header*& first : free_) {
    while (first != nullptr) {
      Header* block = first;
      first = block->next_free;
      drop(block);
    }
  }
}

}  // namespace nnapi_shim::program
