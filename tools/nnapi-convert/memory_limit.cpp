// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/memory_limit.h"

#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace nnapi_convert {
namespace {

// Returns the memory that is free, with swap; 0 if the system doesn't tell.
uint64_t free_bytes() {
  constexpr uint64_t kKibibyte = 1024;
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kibibytes = 0, sum = 0;
  for (std::string unit; info >> name >> kibibytes; std::getline(info, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") sum += kibibytes * kKibibyte;
  }
  return sum;
}

}  // namespace

void limit_memory(uint64_t more) {
  rlimit limit = {};
  const uint64_t available = free_bytes();
  if (available == 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= available + more) return;
  limit.rlim_cur = available + more;
  ::setrlimit(RLIMIT_DATA, &limit);
}

uint64_t memory_limit() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

}  // namespace nnapi_convert
