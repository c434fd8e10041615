// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert check: tells whether and how well a model would convert; writes no file.
#include <CLI/CLI.hpp>

#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/convert_options.h"
#include "tools/nnapi-convert/engine.h"
#include "tools/nnapi-convert/parsed_options.h"

namespace nnapi_convert {
namespace {

constexpr const char* kCheckDescription =
    R"(Says whether a model converts, whole or in which segments, and what of it is refused and why. It
takes the options of the conversion and goes the same way, but writes nothing.

Examples:
  nnapi-convert check model.pt --input 1,3,224,224 --nhwc
  nnapi-convert check model.pt --nhwc --min-api 28
  nnapi-convert check quantised.pt --nhwc --device-profile quant-dsp-8.1 --explain-speed
  nnapi-convert check model.pt --fallback none --format json
  nnapi-convert check model.pt --nhwc --runtime shim --package "level=4; level=2"
)";

const ExitCodes kCheckExitCodes = {{"0", "the model converts, whole or in segments"},
                                   {"1", "it can't be converted"},
                                   {"2", "wrong command line"},
                                   {"3", "a file can't be read or is malformed"},
                                   {"70", "internal error"},
                                   {"75", "memory, stack or time is not enough"}};

}  // namespace

int run_check(const Arguments& command_line) {
  CheckArguments request;
  ConvertArguments& arguments = request.conversion;
  CLI::App app(kCheckDescription, "nnapi-convert check");
  add_model_argument(app, arguments);
  add_model_options(app, arguments);
  add_package_option(app, arguments);
  app.add_flag("--explain-speed", request.explain_speed,
               "say what would run slowly and why (docs/check.md), and which --quant fits");
  app.add_flag("--litert", request.litert, "say whether LiteRT can run the model, too (docs/litert.md)");
  add_litert_options(app, arguments);
  app.add_option("--format", request.format, "how to print it; json is by schemas/check.schema.json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_time_limit(app);
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kCheckExitCodes)) return *code;
  read_parsed(app, arguments);
  check_files(files_of(arguments));
  return engine(arguments.torch_libraries).check(request);
}

}  // namespace nnapi_convert
