// Time for measurements.
#pragma once

#include <time.h>

#include <cstdint>

namespace nnapi_shim {

// Nanoseconds from some moment on.
inline uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace nnapi_shim
