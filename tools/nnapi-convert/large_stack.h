// SPDX-License-Identifier: BSD-3-Clause
// Runs work on a large stack. LibTorch reads, rewrites and runs nested code by recursion: 1,000 operators within each
// other need 1 MB of stack, and a process has 8 MB.
#pragma once

#include <cstdint>
#include <functional>

namespace nnapi_convert {

constexpr uint64_t kLargeStackBytes = uint64_t{1} << 30;

// Runs `work` on a stack of kLargeStackBytes, or of less if the process has a limit, and returns its result. The memory
// is taken as the stack grows. If it overflows, the watched run notes it (lib/base/watched_run.h), and the process dies
// by SIGSEGV. Signals that are sent to the process reach the thread that runs `work`.
int on_large_stack(const std::function<int()>& work);

}  // namespace nnapi_convert
