// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/run_program.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <new>

#include "lib/base/error.h"
#include "lib/base/nearest_name.h"
#include "lib/base/options_needed.h"
#include "lib/base/out_of_memory.h"
#include "lib/base/split_text.h"
#include "lib/base/standard_output.h"
#include "lib/base/watched_run.h"
#include "tools/nnapi-convert/child_program.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/large_stack.h"
#include "tools/nnapi-convert/memory_limit.h"
#include "tools/nnapi-convert/supervisor.h"

namespace nnapi_convert {
namespace {

void set_up_log() {
  // https://no-color.org
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_plain = no_color != nullptr && *no_color != '\0';
  auto logger =
      spdlog::stderr_color_st("nnapi-convert", is_plain ? spdlog::color_mode::never : spdlog::color_mode::automatic);
  logger->set_pattern("nnapi-convert: %^%l%$: %v");
  spdlog::set_default_logger(std::move(logger));
}

int report(const std::string& message, ExitCode code) {
  spdlog::error("{}", message);
  return static_cast<int>(code);
}

// Flushes standard output after success; output that is not written completely is an error.
int flushed(int code) {
  if (code == static_cast<int>(ExitCode::kDone)) flush_standard_output();
  return code;
}

using Subcommands = std::map<std::string, int (*)(const Arguments&)>;

// Throws a usage error if a word is no file and looks like a misspelt subcommand.
void check_spelling(const std::string& word, const Subcommands& subcommands) {
  std::error_code ignored;
  if (word.empty() || word[0] == '-' || std::filesystem::exists(word, ignored)) return;
  std::vector<std::string> names;
  for (const auto& [name, function] : subcommands) names.push_back(name);
  const std::string nearest = nearest_name(word, names);
  if (nearest.empty()) return;
  throw ConvertError(ExitCode::kUsage, fmt::format("{}: no such subcommand or file; did you mean {}?", word, nearest));
}

constexpr const char* kBatch = "batch";

int run(int argc, char** argv) {
  static const Subcommands subcommands = {
      {kBatch, run_batch_command}, {"check", run_check}, {"inspect", run_inspect}, {"ops", run_ops},
      {"phone", run_phone},        {"shim", run_shim},   {"verify", run_verify}};
  Arguments arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "help") {
    std::rotate(arguments.begin(), arguments.begin() + 1, arguments.end());
    arguments.back() = "--help";
  }
  const auto subcommand = arguments.empty() ? subcommands.end() : subcommands.find(arguments[0]);
  if (subcommand == subcommands.end()) {
    if (!arguments.empty()) check_spelling(arguments[0], subcommands);
    return run_convert(arguments);
  }
  arguments.erase(arguments.begin());
  return subcommand->second(arguments);
}

// Returns the command that was given, with more words behind it.
std::string longer_command(int argc, char** argv, const std::vector<std::string>& words) {
  std::vector<std::string> command = {"nnapi-convert"};
  command.insert(command.end(), argv + 1, argv + argc);
  command.insert(command.end(), words.begin(), words.end());
  return shell_text(command);
}

// Returns a message with the step and the memory that was free.
std::string out_of_memory_text() {
  constexpr uint64_t kMegabyte = 1'000'000;
  const WatchedRun* run = watched_run();
  std::string text = "out of memory";
  if (run != nullptr && run->step[0] != '\0') text += fmt::format(" at the step \"{}\"", run->step);
  if (memory_limit() != 0) text += fmt::format(": it needs more than the {} MB free here", memory_limit() / kMegabyte);
  return text;
}

int run_and_report(int argc, char** argv) {
  try {
    return flushed(run(argc, argv));
  } catch (const OptionsNeeded& error) {
    return report(fmt::format("{}\n{}", error.what(), longer_command(argc, argv, error.words())), error.exit_code());
  } catch (const ConvertError& error) {
    return report(error.what(), tells_of_full_memory(error.what()) ? ExitCode::kLimit : error.exit_code());
  } catch (const std::bad_alloc&) {
    return report(out_of_memory_text(), ExitCode::kLimit);
  } catch (const std::exception& error) {
    if (tells_of_full_memory(error.what())) return report(out_of_memory_text(), ExitCode::kLimit);
    return report(fmt::format("internal error, please report it with the model: {}", first_line(error.what())),
                  ExitCode::kInternal);
  }
}

}  // namespace

void run_program(int argc, char** argv) {
  set_up_log();
  // Without this handler mimalloc, which is C, aborts if memory is short.
  std::set_new_handler([] { throw std::bad_alloc(); });
  const auto command = [&] { return run_and_report(argc, argv); };
  // A batch runs each model in a process of its own.
  const bool is_batch = argc > 1 && argv[1] == std::string(kBatch);
  exit_quickly(is_batch ? on_large_stack(command) : run_supervised(command));
}

}  // namespace nnapi_convert
