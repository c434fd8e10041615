// SPDX-License-Identifier: BSD-3-Clause
// Runs a command in a process of its own. Some files make LibTorch end the process: by a stack that overflows, a signal
// of the processor, or by using all memory; others never end. The supervising process reports what ended it.
#pragma once

#include <functional>

namespace nnapi_convert {

// Forks, runs `command` in the new process, on a large stack, within the memory that the machine has free, and returns
// its exit code. The new process ends without LibTorch's destructors, which take long. If it dies or shows no sign of
// life for too long (lib/base/watched_run.h), reports an error, removes the folders that the process named, and returns
// the exit code for it. Passes on SIGINT and similar signals, which end this process as they ended the new one.
int run_supervised(const std::function<int()>& command);

// Ends the process with an exit code, after all output is flushed, without destructors.
[[noreturn]] void exit_quickly(int code);

}  // namespace nnapi_convert
