// SPDX-License-Identifier: BSD-3-Clause
// Memory in large pieces that is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_shim {

// Gives memory out piece by piece, and takes all of it back at its end. The kernel gives it in huge pages where it has
// them for those who ask (/sys/kernel/mm/transparent_hugepage/enabled): writing 14 MB then takes 3 ms in place of 26,
// as most of that goes into single pages.
class LargeMemory {
 public:
  LargeMemory() = default;
  ~LargeMemory();
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  // Returns zeros, aligned to 64 bytes. Ends the process where there is no memory.
  void* take(size_t bytes);

 private:
  struct Block {
    void* mapping;
    size_t mapped;
    uint8_t *next, *end;
  };
  void add_block(size_t bytes);

  std::vector<Block> blocks_;
};

}  // namespace nnapi_shim
