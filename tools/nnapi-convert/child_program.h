// SPDX-License-Identifier: BSD-3-Clause
// Runs another program and takes what it prints.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

struct ProgramEnd {
  int exit_code = 0;   // 128 + number where a signal ended it
  std::string output;  // what it wrote to standard output and standard error
};

// Looks for the program as a shell does, and waits for its end. Throws ConvertError (kBadFile) if it can't be started.
ProgramEnd run_child(const std::vector<std::string>& command);

// The command as a shell would have it.
std::string shell_text(const std::vector<std::string>& command);

}  // namespace nnapi_convert
