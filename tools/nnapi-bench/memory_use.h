// SPDX-License-Identifier: BSD-3-Clause
// Reads the memory use of this process from the kernel.
#pragma once

#include <cstdint>
#include <optional>

namespace nnapi_bench {

// Memory use in bytes. `proportional` (PSS) counts a page that n processes share as 1/n of a page. `owned` (USS) counts
// the pages of this process alone, including mapped files. `written` counts the owned pages that no file can restore.
struct MemoryUse {
  uint64_t resident = 0, proportional = 0, owned = 0, written = 0;
};

// Reads /proc/self/smaps_rollup; returns nothing if it does not exist (kernels before 4.14, Android before 9).
std::optional<MemoryUse> memory_use();

}  // namespace nnapi_bench
