// SPDX-License-Identifier: BSD-3-Clause
// Runs nnapi-convert, from its arguments to its exit code.
#pragma once

namespace nnapi_convert {

// Dispatches to a subcommand, renders errors, and exits.
[[noreturn]] void run_program(int argc, char** argv);

}  // namespace nnapi_convert
