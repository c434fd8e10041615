// SPDX-License-Identifier: BSD-3-Clause
// LibTorch ends the process for some files: by a stack that overflows, by a signal of the processor, by all of the
// memory. And some files never end. A command therefore runs in a process of its own, and this process says what ended
// it.
#pragma once

#include <functional>

namespace nnapi_convert {

// Forks, runs `command` in the new process, on a large stack, within the memory that the machine has free, and returns
// its exit code. The new process ends without LibTorch's destructors, which take long. If it dies or shows no sign of
// life for too long (lib/base/watched_run.h), says so as an error, removes the folders that it told, and returns the
// exit code for it. SIGINT and its like are passed on, and end this process as they ended the new one.
int run_supervised(const std::function<int()>& command);

// Ends the process with an exit code, after all output is flushed, without destructors.
[[noreturn]] void exit_quickly(int code);

}  // namespace nnapi_convert
