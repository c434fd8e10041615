// SPDX-License-Identifier: BSD-3-Clause
// Memory in large blocks, for data that are written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_shim {

// Gives memory out piece by piece, and frees all of it in its destructor. The kernel provides huge pages if it has them
// for programs that ask (/sys/kernel/mm/transparent_hugepage/enabled): writing 14 MB then takes 3 ms instead of 26,
// most of which go into single pages.
class LargeMemory {
 public:
  LargeMemory() = default;
  ~LargeMemory();
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  // Returns memory filled with zeros, aligned to 64 bytes. Ends the process if there is none.
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
