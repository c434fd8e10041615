// SPDX-License-Identifier: BSD-3-Clause
// Writes the text of --help and --help-all.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nnapi_convert {

// The exit codes of a command, with their meanings.
using ExitCodes = std::vector<std::pair<std::string, std::string>>;

// Returns true if only --help-all shows some options: the options outside CLI11's first group, "Options".
bool has_more_options(const CLI::App& app);

// Returns description, usage, options and exit codes in at most 100 columns. `is_whole` adds all groups and the footer.
std::string help_text(const CLI::App& app, const ExitCodes& exit_codes, bool is_whole);

}  // namespace nnapi_convert
