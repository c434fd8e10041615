#include "tools/nnapi-convert/command_line.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <torch/version.h>

#include <algorithm>
#include <iostream>

#include "lib/base/error.h"
#include "lib/base/files_apart.h"

namespace nnapi_convert {

std::string version_text() {
  return fmt::format("nnapi-convert {} (LibTorch {})", NNAPI_CONVERT_VERSION, TORCH_VERSION);
}

std::string exit_codes_text() {
  return R"(Exit codes:
  0   done
  1   the model can't be converted
  2   wrong command line
  3   a file can't be read or written, or is malformed
  4   verification failed
  70  internal error)";
}

void add_log_options(CLI::App& app) {
  auto* quiet = app.add_flag_callback(
      "-q,--quiet", [] { spdlog::set_level(spdlog::level::err); }, "errors only");
  app.add_flag_callback(
         "-v,--verbose", [] { spdlog::set_level(spdlog::level::info); }, "say what is done")
      ->excludes(quiet);
  spdlog::set_level(spdlog::level::warn);
}

void add_library_option(CLI::App& app, std::vector<std::string>& paths) {
  app.add_option("--torch-library", paths, "shared library with operators of the original that LibTorch lacks")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void refuse_standard_output(const std::string& option, const std::string& path) {
  if (!is_standard_output(path)) return;
  throw ConvertError(
      ExitCode::kUsage,
      fmt::format("{} {}: standard output found, a name needed; only --report goes there", option, path));
}

void flush_standard_output() {
  if (std::cout.flush()) return;
  throw ConvertError(ExitCode::kBadFile, "can't write to standard output");
}

std::optional<int> parse_command_line(CLI::App& app, const Arguments& arguments) {
  app.get_formatter()->column_width(34);
  try {
    Arguments reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes a vector
    app.parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
  } catch (const CLI::CallForVersion&) {
    std::cout << version_text() << "\n";
  } catch (const CLI::ParseError& error) {
    spdlog::error("{}; see {} --help", error.what(), app.get_name());
    return static_cast<int>(ExitCode::kUsage);
  }
  return static_cast<int>(ExitCode::kDone);
}

}  // namespace nnapi_convert
