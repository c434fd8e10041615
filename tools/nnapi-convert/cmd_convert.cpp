// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert MODEL -o OUT: the conversion itself.
#include <CLI/CLI.hpp>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/convert_options.h"
#include "tools/nnapi-convert/engine.h"
#include "tools/nnapi-convert/parsed_options.h"

namespace nnapi_convert {
namespace {

constexpr const char* kConvertDescription =
    R"(Converts a PyTorch model to TorchScript of the same interface that runs on Android's NNAPI.

Examples:
  nnapi-convert model.pt --input 1,3,224,224 --nhwc --verify -o out.ptl
  nnapi-convert quantised.pt --nhwc --quant full -o out.pt

Subcommands (each has its own --help):
  batch    convert many models, and compare with an earlier run
  check    say whether and how well a model converts, and write nothing
  verify   compare a converted model with its original on the host's NNAPI
  inspect  show what a converted file holds
  ops      list the operations that can be lowered
  phone    convert for attached phones, until each computes the file right
  shim     write the sources of the shim, for apps that build it themselves
)";

const ExitCodes kConvertExitCodes = {{"0", "done"},
                                     {"1", "the model can't be converted"},
                                     {"2", "wrong command line"},
                                     {"3", "a file can't be read or written, or is malformed"},
                                     {"4", "verification failed"},
                                     {"70", "internal error"},
                                     {"75", "memory, stack or time is not enough"}};

}  // namespace

int run_convert(const Arguments& command_line) {
  ConvertArguments arguments;
  CLI::App app(kConvertDescription, "nnapi-convert");
  app.set_version_flag("--version", version_text());
  add_convert_options(app, arguments);
  add_time_limit(app);
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kConvertExitCodes)) return *code;
  arguments.has_output = app.count("--output") != 0;
  read_output_format(arguments);
  if (!arguments.has_output && arguments.litert.empty()) {
    throw ConvertError(ExitCode::kUsage, "--output or --litert is required; see nnapi-convert --help");
  }
  read_parsed(app, arguments);
  check_files(files_of(arguments));
  if (arguments.has_output && arguments.output.empty()) fail_to_write("", "not a file name");
  return engine(arguments.torch_libraries).convert(arguments);
}

}  // namespace nnapi_convert
