// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/large_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace nnapi_shim {
namespace {

constexpr size_t kHugePage = size_t{2} << 20, kLeastBlock = 4 * kHugePage, kAlignment = 64;
constexpr size_t kSmallBlock = size_t{512} << 10;  // the first block's, so that a small model doesn't take a huge page
constexpr size_t kLargestPage = size_t{64} << 10;  // the largest page of kernels; blocks begin at multiples of it

// The number of MADV_POPULATE_WRITE, which Linux has since 5.14; older C libraries lack the name.
constexpr int kPopulate = 23;

size_t up_to(size_t number, size_t step) {
  return (number + step - 1) / step * step;
}

}  // namespace

LargeMemory::~LargeMemory() {
  for (const Block& block : blocks_) ::munmap(block.mapping, block.mapped);
}

void LargeMemory::add_block(size_t bytes) {
  const bool is_small = blocks_.empty() && bytes <= kSmallBlock;
  const size_t size = is_small ? kSmallBlock : std::max(kLeastBlock, up_to(bytes, kHugePage));
  const size_t mapped = size + kHugePage;  // the block begins at a huge page
  void* mapping = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) std::abort();  // as for any other lack of memory
  auto* begin = static_cast<uint8_t*>(mapping);
  begin += up_to(reinterpret_cast<uintptr_t>(begin), kHugePage) - reinterpret_cast<uintptr_t>(begin);
  if (!is_small) ::madvise(begin, size, MADV_HUGEPAGE);
  blocks_.push_back({mapping, mapped, begin, begin + size});
}

void* LargeMemory::take(size_t bytes) {
  bytes = up_to(std::max<size_t>(bytes, 1), kAlignment);
  if (blocks_.empty() || static_cast<size_t>(blocks_.back().end - blocks_.back().next) < bytes) add_block(bytes);
  Block& block = blocks_.back();
  uint8_t* const memory = block.next;
  block.next += bytes;
  // Takes all pages at once: taken one by one as they are written, small pages cost half as much again.
  uint8_t* const page = memory - reinterpret_cast<uintptr_t>(memory) % kLargestPage;
  ::madvise(page, static_cast<size_t>(block.next - page), kPopulate);
  return memory;
}

}  // namespace nnapi_shim
