// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self/smaps_rollup.
#include "tools/nnapi-bench/memory_use.h"

#include <fstream>
#include <sstream>
#include <string>

namespace nnapi_bench {

std::optional<MemoryUse> memory_use() {
  std::ifstream stream("/proc/self/smaps_rollup");
  MemoryUse use;
  bool is_found = false;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    std::string name;
    uint64_t kilobytes = 0;
    if (!(fields >> name >> kilobytes)) continue;
    const uint64_t bytes = kilobytes * 1024;
    if (name == "Rss:") use.resident = bytes;
    if (name == "Pss:") use.proportional = bytes;
    if (name == "Private_Clean:" || name == "Private_Dirty:") use.owned += bytes;
    if (name == "Private_Dirty:") use.written = bytes;
    is_found = is_found || name == "Rss:";
  }
  return is_found ? std::optional(use) : std::nullopt;
}

}  // namespace nnapi_bench
