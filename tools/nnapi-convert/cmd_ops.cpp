// nnapi-convert ops: the operations that can be lowered, from the rules themselves.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

const ExitCodes kOpsExitCodes = {{"0", "done"},
                                 {"2", "wrong command line"},
                                 {"3", "the output can't be written, or LibTorch can't be loaded"},
                                 {"70", "internal error"}};

}  // namespace

int run_ops(const Arguments& command_line) {
  std::string format = "text";
  CLI::App app(
      "Lists the PyTorch operators that can be lowered to NNAPI, with the lowest feature level and the\n"
      "limits.\n\n"
      "Examples:\n  nnapi-convert ops\n  nnapi-convert ops --format json",
      "nnapi-convert ops");
  app.add_option("--format", format, "how to list them")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  if (const auto code = parse_command_line(app, command_line, kOpsExitCodes)) return *code;
  std::cout << engine().list_operations(format);
  return 0;
}

}  // namespace nnapi_convert
