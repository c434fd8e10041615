// nnapi-convert inspect OUT: what a converted file holds.
#include <CLI/CLI.hpp>
#include <iostream>

#include "lib/base/files_apart.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

const ExitCodes kInspectExitCodes = {{"0", "done"},
                                     {"2", "wrong command line"},
                                     {"3", "a file can't be read or is malformed, or the output can't be written"},
                                     {"70", "internal error"}};

}  // namespace

int run_inspect(const Arguments& command_line) {
  std::string path;
  std::string format = "text";
  CLI::App app(
      "Shows what a converted file holds: its interface and its NNAPI operations.\n\n"
      "Examples:\n  nnapi-convert inspect out.pt\n  nnapi-convert inspect out.pt --format json\n"
      "  nnapi-convert inspect out.pt --format dot\n"
      "  nnapi-convert inspect out.pt --format html",
      "nnapi-convert inspect");
  app.add_option("OUT", path, "a file that nnapi-convert wrote")->required();
  app.add_option("--format", format, "how to show it")
      ->check(CLI::IsMember({"text", "json", "dot", "html"}))
      ->capture_default_str();
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kInspectExitCodes)) return *code;
  check_files_apart({{{"OUT", path}}, {}});
  std::cout << engine().inspect(path, format);
  return 0;
}

}  // namespace nnapi_convert
