// The text of --help and --help-all.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nnapi_convert {

// The exit codes that a command has, with their meanings.
using ExitCodes = std::vector<std::pair<std::string, std::string>>;

// True if options are left to --help-all: those of another group than CLI11's first, "Options".
bool has_more_options(const CLI::App& app);

// Description, usage, options and exit codes in at most 100 columns; `is_whole`: with all groups and the footer.
std::string help_text(const CLI::App& app, const ExitCodes& exit_codes, bool is_whole);

}  // namespace nnapi_convert
