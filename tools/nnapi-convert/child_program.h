// SPDX-License-Identifier: BSD-3-Clause
// Runs another program and takes its output.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

struct ProgramEnd {
  int exit_code = 0;   // 128 + the signal's number if a signal ended it
  std::string output;  // the text that it wrote to standard output and standard error
};

// Runs the program, which it looks up as a shell does, and waits for its end. Throws ConvertError (kBadFile) if it
// can't be started.
ProgramEnd run_child(const std::vector<std::string>& command);

// Returns the command as a text for a shell.
std::string shell_text(const std::vector<std::string>& command);

}  // namespace nnapi_convert
