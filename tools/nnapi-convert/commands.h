// SPDX-License-Identifier: BSD-3-Clause
// Declares one function per subcommand. Each takes the arguments after the subcommand's name and returns the exit code.
// Errors are thrown as ConvertError, and run_program() renders them.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

using Arguments = std::vector<std::string>;

int run_convert(const Arguments& arguments);
int run_batch_command(const Arguments& arguments);
int run_check(const Arguments& arguments);
int run_verify(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_ops(const Arguments& arguments);
int run_phone(const Arguments& arguments);
int run_shim(const Arguments& arguments);

}  // namespace nnapi_convert
