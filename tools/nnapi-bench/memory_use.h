// What this process holds of memory, as the kernel counts it.
#pragma once

#include <cstdint>
#include <optional>

namespace nnapi_bench {

// Bytes. `proportional` counts a page that n processes share as 1/n of a page (PSS); `owned` counts pages of this
// process alone (USS), mapped files included; `written` those of them that can't be read from a file again.
struct MemoryUse {
  uint64_t resident = 0, proportional = 0, owned = 0, written = 0;
};

// From /proc/self/smaps_rollup; nothing where there is none (kernels before 4.14, Android before 9).
std::optional<MemoryUse> memory_use();

}  // namespace nnapi_bench
