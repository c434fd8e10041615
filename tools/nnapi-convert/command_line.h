// SPDX-License-Identifier: BSD-3-Clause
// Reads the parts of the command line that all subcommands have.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/files_apart.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/help_text.h"

namespace nnapi_convert {

// Returns a text such as "nnapi-convert 0.1.0 (LibTorch 1.13.1)".
std::string version_text();
// Adds -q and -v, which set the log's level.
void add_log_options(CLI::App& app);
// Adds --time-limit, for commands that run a model's code (lib/base/watched_run.h).
void add_time_limit(CLI::App& app, uint64_t& seconds);
// Adds --time-limit for this process's own watched run.
void add_time_limit(CLI::App& app);
// Adds --torch-library. Its paths go to load_torch_library() before a model is read.
void add_library_option(CLI::App& app, std::vector<std::string>& paths);
// Adds the libraries of --torch-library.
void add_libraries(FilesInUse& files, const std::vector<std::string>& paths);
// Throws ConvertError if files of a command line get in each other's way (check_files_apart), or can't be read or
// written (check_files_ready). Call it before LibTorch is loaded.
void check_files(const FilesInUse& files);
// Throws ConvertError (kUsage) if an option that names a model or folder to write names standard output.
void refuse_standard_output(const std::string& option, const std::string& path);
// Adds --help and, if options are in other groups than CLI11's first, --help-all; then parses the arguments. Throws
// ConvertError (kUsage) if they are wrong. After it printed help or the version, returns the exit code for the program;
// otherwise nothing.
std::optional<int> parse_command_line(CLI::App& app, const Arguments& arguments, const ExitCodes& exit_codes);

// Checks of an option's value. CLI11's own would print the largest double in messages, or accept the empty text of a
// script's unset variable.
CLI::Validator finite_number();
CLI::Validator not_negative();
CLI::Validator more_than_zero();
CLI::Validator not_empty();

// Adds an option that takes one of the names of a map.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& value, const std::map<std::string, T>& choices,
                        const std::string& description) {
  std::string current;
  for (const auto& [choice, meaning] : choices) {
    if (meaning == value) current = choice;
  }
  return app
      .add_option_function<std::string>(
          name, [&value, choices](const std::string& choice) { value = choices.at(choice); }, description)
      ->check(CLI::IsMember(choices))
      ->type_name("NAME")
      ->default_str(current);
}

}  // namespace nnapi_convert
