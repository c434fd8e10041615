// SPDX-License-Identifier: BSD-3-Clause
// A file may ask for more memory than there is. A system whose memory is full kills processes; a process that has a
// limit is told at the allocation, and can say so.
#pragma once

#include <cstdint>

namespace nnapi_convert {

// Limits what the process may allocate to the memory that the system has free now, with its swap, and to `more` bytes
// besides. A lower limit stays.
void limit_memory(uint64_t more);

// What the process may allocate in bytes; 0: without a limit.
uint64_t memory_limit();

}  // namespace nnapi_convert
