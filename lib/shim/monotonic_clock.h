// SPDX-License-Identifier: BSD-3-Clause
// A clock for measurements of time.
#pragma once

#include <time.h>

#include <cstdint>

namespace nnapi_shim {

// Returns the nanoseconds since a fixed moment; only differences have a meaning.
inline uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace nnapi_shim
