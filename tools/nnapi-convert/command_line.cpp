// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/command_line.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "lib/base/error.h"
#include "lib/base/files_ready.h"
#include "lib/base/nearest_name.h"
#include "lib/base/patience.h"
#include "lib/base/standard_output.h"
#include "lib/base/watched_run.h"

namespace nnapi_convert {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Releases of CLI11 after 2.1 write "not in range [1 - 8]" for "not in range 1 to 8".
std::string in_one_wording(const std::string& message) {
  static const std::regex range(R"(not in range \[(\S+) - (\S+)\])");
  return std::regex_replace(message, range, "not in range $1 to $2");
}

// Returns the message of a usage error. An unknown option comes first: its correct name may be the missing option.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining();
  const std::string see = fmt::format("; see {} --help", app.get_name());
  for (const std::string& word : rest) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest = nearest_name(name, option_names(app));
    return fmt::format("{}: unknown option{}", name, nearest.empty() ? see : "; did you mean " + nearest + "?");
  }
  const bool is_too_much = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty();
  return (is_too_much ? rest.front() + ": unexpected argument" : in_one_wording(error.what())) + see;
}

CLI::Validator number_check(const std::string& needed, bool (*is_fit)(double)) {
  return {[needed, is_fit](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool is_number = end != text.c_str() && *end == '\0';
            if (is_number && is_fit(value)) return std::string();
            return fmt::format("{} found, {} needed", text.empty() ? "an empty text" : text, needed);
          },
          ""};
}

}  // namespace

CLI::Validator finite_number() {
  return number_check("a finite number", [](double value) { return std::isfinite(value); });
}

CLI::Validator not_negative() {
  return number_check("a number of 0 or more", [](double value) { return value >= 0 && std::isfinite(value); });
}

CLI::Validator more_than_zero() {
  return number_check("a number above 0", [](double value) { return value > 0 && std::isfinite(value); });
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("an empty text found") : std::string(); },
          ""};
}

std::string version_text() {
  return fmt::format("nnapi-convert {} (LibTorch {})", NNAPI_CONVERT_VERSION, NNAPI_CONVERT_TORCH_RELEASE);
}

void add_log_options(CLI::App& app) {
  auto* quiet = app.add_flag_callback(
      "-q,--quiet", [] { spdlog::set_level(spdlog::level::err); }, "errors only");
  app.add_flag_callback(
         "-v,--verbose", [] { spdlog::set_level(spdlog::level::info); }, "say what is done")
      ->excludes(quiet);
  spdlog::set_level(spdlog::level::warn);
}

void add_time_limit(CLI::App& app, uint64_t& seconds) {
  app.add_option("--time-limit", seconds,
                 "stop a step that goes on for so long without progress, and a second more for each 5 MB of the "
                 "model's file; 0: never")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group("More options");
}

void add_time_limit(CLI::App& app) {
  static uint64_t unwatched = kSecondsOfStep;
  WatchedRun* run = watched_run();
  add_time_limit(app, run == nullptr ? unwatched : run->seconds);
}

void add_library_option(CLI::App& app, std::vector<std::string>& paths) {
  app.add_option("--torch-library", paths, "shared library with operators of the original that LibTorch lacks")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Operators");
}

void add_libraries(FilesInUse& files, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    files.read.push_back({"--torch-library", path, AlsoFits::kLibraryName});
  }
}

void check_files(const FilesInUse& files) {
  check_files_apart(files);
  check_files_ready(files);
}

void refuse_standard_output(const std::string& option, const std::string& path) {
  if (!is_standard_output(path)) return;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("{} {}: it can't be written to standard output; name a file or folder", option, path));
}

std::optional<int> parse_command_line(CLI::App& app, const Arguments& arguments, const ExitCodes& exit_codes) {
  const bool has_more = has_more_options(app);
  app.set_help_flag("-h,--help", has_more ? "print the common options and exit" : "print this and exit");
  if (has_more) app.set_help_all_flag("--help-all", "print all options and exit");
  try {
    Arguments reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes a vector in this order
    app.parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << help_text(app, exit_codes, false);
  } catch (const CLI::CallForAllHelp&) {
    std::cout << help_text(app, exit_codes, true);
  } catch (const CLI::CallForVersion&) {
    std::cout << version_text() << "\n";
  } catch (const CLI::ParseError& error) {
    throw ConvertError(ExitCode::kUsage, complaint(app, error));
  }
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace nnapi_convert
