// SPDX-License-Identifier: BSD-3-Clause
// Limits the process's memory. A file may ask for more memory than there is. A system whose memory is full kills
// processes; in a process with a limit the allocation fails, which it can report.
#pragma once

#include <cstdint>

namespace nnapi_convert {

// Limits the process's data to the memory that the system has free now, with its swap, plus `more` bytes. A lower limit
// stays.
void limit_memory(uint64_t more);

// Returns how many bytes the process may allocate; 0: no limit.
uint64_t memory_limit();

}  // namespace nnapi_convert
