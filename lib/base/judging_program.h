// SPDX-License-Identifier: BSD-3-Clause
// Runs a user's program that prints a score for a folder of files.
#pragma once

#include <string>

namespace nnapi_convert {

// Runs `command` by the shell with `folder` as its last argument, and returns the number that it prints: the last line
// of standard output. Its standard error goes to this program's. Throws ConvertError (kBadFile), beginning with
// `option`, where the program can't be run, ends with another exit code than 0, prints no finite number, or takes
// longer than `seconds`; it is ended then.
double judged_by_program(const std::string& option, const std::string& command, const std::string& folder, int seconds);

}  // namespace nnapi_convert
