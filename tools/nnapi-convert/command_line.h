// What the subcommands' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/help_text.h"

namespace nnapi_convert {

// "nnapi-convert 0.1.0 (LibTorch 1.13.1)".
std::string version_text();
// -q and -v, which set the log's level.
void add_log_options(CLI::App& app);
// --torch-library: the paths go to load_torch_library() before a model is read.
void add_library_option(CLI::App& app, std::vector<std::string>& paths);
// Throws ConvertError (kUsage) where an option that names a model or folder to write has standard output instead.
void refuse_standard_output(const std::string& option, const std::string& path);
// Parses; adds --help, and --help-all where options are in other groups than CLI11's first. The exit code to leave with
// (after help, --version or a usage error, which are printed), or nothing.
std::optional<int> parse_command_line(CLI::App& app, const Arguments& arguments, const ExitCodes& exit_codes);

// An option that takes one of the names of a map.
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
