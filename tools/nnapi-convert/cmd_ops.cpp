// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert ops: lists the operations that can be lowered, from the rules themselves.
#include <CLI/CLI.hpp>
#include <iostream>

#include "lib/base/error.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

const ExitCodes kOpsExitCodes = {{"0", "done"},
                                 {"2", "wrong command line"},
                                 {"3", "the output can't be written, or LibTorch can't be loaded"},
                                 {"70", "internal error"},
                                 {"75", "memory, stack or time is not enough"}};

}  // namespace

int run_ops(const Arguments& command_line) {
  std::string format = "text";
  CLI::App app(
      "Lists the PyTorch operators that can be lowered to NNAPI, with the lowest feature level and the\n"
      "limits; or says how operators are handled.\n\n"
      "Examples:\n  nnapi-convert ops\n  nnapi-convert ops --format json\n  nnapi-convert ops aten::var aten::einsum",
      "nnapi-convert ops");
  std::vector<std::string> names;
  app.add_option("NAME", names, "operators, with or without overloads: say how each is handled")->type_name("");
  app.add_option("--format", format, "how to list them")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  if (const auto code = parse_command_line(app, command_line, kOpsExitCodes)) return *code;
  if (!names.empty() && format != "text") {
    throw ConvertError(ExitCode::kUsage, "--format: it is for the list of all operators; leave it out, or the names");
  }
  for (const std::string& name : names) {
    if (name.find("::") == std::string::npos) {
      throw ConvertError(ExitCode::kUsage, name + ": no operator of this name; needed: one such as aten::conv2d");
    }
  }
  std::cout << engine().list_operations(format, names);
  return 0;
}

}  // namespace nnapi_convert
