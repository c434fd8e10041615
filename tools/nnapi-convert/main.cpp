// nnapi-convert: dispatches to a subcommand and renders errors.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include "lib/base/error.h"
#include "lib/converter/load.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"

namespace nnapi_convert {
namespace {

void set_up_log() {
  auto logger = spdlog::stderr_color_st("nnapi-convert");
  logger->set_pattern("nnapi-convert: %^%l%$: %v");
  spdlog::set_default_logger(std::move(logger));
}

int report(const std::string& message, ExitCode code) {
  spdlog::error("{}", message);
  return static_cast<int>(code);
}

// Output that didn't arrive whole is no success.
int flushed(int code) {
  if (code == static_cast<int>(ExitCode::kDone)) flush_standard_output();
  return code;
}

int run(int argc, char** argv) {
  static const std::map<std::string, int (*)(const Arguments&)> subcommands = {
      {"batch", run_batch_command}, {"check", run_check},  {"inspect", run_inspect}, {"ops", run_ops},
      {"shim", run_shim},           {"verify", run_verify}};
  Arguments arguments(argv + 1, argv + argc);
  const auto subcommand = arguments.empty() ? subcommands.end() : subcommands.find(arguments[0]);
  if (subcommand == subcommands.end()) return run_convert(arguments);
  arguments.erase(arguments.begin());
  return subcommand->second(arguments);
}

int run_and_report(int argc, char** argv) {
  try {
    return flushed(run(argc, argv));
  } catch (const ConvertError& error) {
    return report(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    return report("out of memory", ExitCode::kInternal);
  } catch (const std::exception& error) {
    return report(fmt::format("internal error, please report it with the model: {}", first_line(error)),
                  ExitCode::kInternal);
  }
}

}  // namespace
}  // namespace nnapi_convert

int main(int argc, char** argv) {
  nnapi_convert::set_up_log();
  const int code = nnapi_convert::run_and_report(argc, argv);
  // Without LibTorch's long way of taking itself down.
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
  std::quick_exit(code);
}
