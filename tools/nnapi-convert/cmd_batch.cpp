// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert batch ZOO -o DIR: many models in one run.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/files_apart.h"
#include "lib/base/host_library.h"
#include "lib/base/own_library.h"
#include "lib/base/patience.h"
#include "tools/nnapi-convert/batch/baseline.h"
#include "tools/nnapi-convert/batch/batch.h"
#include "tools/nnapi-convert/batch/content_hash.h"
#include "tools/nnapi-convert/batch/output_folder.h"
#include "tools/nnapi-convert/batch/zoo.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/convert_options.h"
#include "tools/nnapi-convert/engine.h"
#include "tools/nnapi-convert/large_stack.h"

namespace nnapi_convert {
namespace {

constexpr int kModelsFailed = 1;
constexpr int kWorseThanBaseline = 5;

constexpr const char* kBatchDescription =
    R"(Converts many models, each in a process of its own, and writes reports and a summary: DIR/NAME.pt
and DIR/NAME.report.json for each model, and DIR/summary.json, .md and .xml (JUnit). ZOO is a
folder, a pattern in quotes, or a JSON manifest with options for each model.

Examples:
  nnapi-convert batch models -o converted --nhwc --keep-going
  nnapi-convert batch 'models/*.pt' -o converted --nhwc --jobs 2 --memory 4GB
  nnapi-convert batch zoo.json -o converted --verify --resume
  nnapi-convert batch zoo.json -o converted --verify -k --baseline last.json --limit snr=3)";

const ExitCodes kBatchExitCodes = {
    {"0", "all models are converted; with --baseline: none is worse than there, and no new one failed"},
    {"1", "models failed, or were not reached"},
    {"2", "wrong command line or manifest"},
    {"3", "the zoo can't be read, or DIR can't be written"},
    {"5", "with --baseline: something got worse"},
    {"70", "internal error"},
    {"128+", "a signal ended it: 130 is SIGINT"}};

struct BatchArguments {
  std::string zoo, output, baseline, extension = "pt";
  std::vector<std::string> limits;
  int jobs = 1;
  uint64_t memory = 0;
  double timeout = 0;
  uint64_t step_seconds = kSecondsOfStep;
  bool keep_going = false, resume = false;
  std::map<std::string, std::string> flags;
  std::map<std::string, std::vector<std::string>> values;
};

void add_batch_options(CLI::App& app, BatchArguments& arguments) {
  app.add_option("ZOO", arguments.zoo, "folder (with those below it), pattern in quotes, or manifest.json")
      ->required()
      ->type_name(" ");
  app.add_option("-o,--output", arguments.output, "folder to write to; made if it is not there")
      ->required()
      ->type_name("DIR");
  arguments.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  app.add_option("-j,--jobs", arguments.jobs, "models to convert at a time [the number of processors]")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_option("--memory", arguments.memory, "limit to the resident memory of all processes together, such as 4GB")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("SIZE");
  app.add_option("--timeout", arguments.timeout, "stop a model that takes longer")
      ->check(more_than_zero())
      ->type_name("SECONDS");
  app.add_flag("-k,--keep-going", arguments.keep_going, "begin further models after one has failed");
  app.add_flag("--resume", arguments.resume, "skip what DIR has from the same model, options and version");
  app.add_option("--extension", arguments.extension, "of the results; ptl is for the lite interpreter")
      ->check(CLI::IsMember({"pt", "ptl"}))
      ->capture_default_str();
  app.add_option("--baseline", arguments.baseline,
                 "summary.json of an earlier run: show what changed, fail if it got worse")
      ->type_name("FILE");
  app.add_option("--limit", arguments.limits, "how much worse than the baseline a model may get, see --help-all")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
}

// Adds the conversion's options under the same names.
void add_passed_options(CLI::App& app, BatchArguments& arguments) {
  for (const ConvertOption& option : convert_options()) {
    const std::string name = "--" + option.rule.name;
    CLI::Option* added =
        option.rule.is_flag
            ? app.add_flag(name, arguments.flags[option.rule.name], option.description)
            : app.add_option(name, arguments.values[option.rule.name], option.description)->allow_extra_args(false);
    if (!option.rule.is_flag) added->type_name(option.type_name);
    if (!option.rule.is_flag && !option.rule.repeats) added->expected(1);
    added->group("Options of each conversion (a manifest's for one model go before them)");
  }
}

OptionSet options_given(const CLI::App& app, const BatchArguments& arguments) {
  OptionSet options;
  for (const auto& [name, value] : arguments.flags) {
    if (app.count("--" + name) != 0) options[name] = {value};
  }
  for (const auto& [name, values] : arguments.values) {
    if (!values.empty()) options[name] = values;
  }
  return options;
}

std::vector<BatchModel> read_zoo(const BatchArguments& arguments, const OptionSet& options, const OptionRules& rules) {
  const auto check = [](const OptionSet& checked) { check_convert_options(to_arguments(checked)); };
  check(options);
  return find_models({arguments.zoo, arguments.output, rules, options, check});
}

// Returns the files that the batch and all of its conversions read and write.
FilesInUse files_of(const BatchArguments& arguments, const BatchRequest& request) {
  const std::filesystem::path folder = arguments.output;
  FilesInUse files;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(arguments.zoo, ignored)) files.read.push_back({"manifest", arguments.zoo});
  files.read.push_back({"--baseline", arguments.baseline});
  for (const BatchModel& model : request.models) {
    files.read.push_back({"model", model.file});
    for (const OptionRule& rule : request.worker.rules) {
      const auto given = model.options.find(rule.name);
      if (!rule.is_path || given == model.options.end()) continue;
      for (const std::string& value : given->second) {
        if (!rule.is_file(value)) continue;
        if (is_written(rule.name, model.options)) {
          files.written.push_back({fmt::format("--{} of model {}:", rule.name, model.name), value});
        } else {
          files.read.push_back({"--" + rule.name, value});
        }
      }
    }
    for (const BatchOutput& output : outputs_of(model, arguments.extension)) {
      files.written.push_back({"result", folder / output.name});
    }
  }
  for (const char* name : {"summary.json", "summary.md", "summary.xml"}) {
    files.written.push_back({"summary", folder / name});
  }
  return files;
}

// Throws if /proc is not mounted: LibTorch counts processors there before it takes one thread, and the memory of models
// is read there.
void check_proc() {
  if (std::filesystem::exists("/proc/cpuinfo")) return;
  throw ConvertError(ExitCode::kBadFile,
                     "batch: /proc is not mounted, and LibTorch needs it to compute on one thread; mount it (mount -t "
                     "proc proc /proc), or convert the models one by one");
}

BatchRequest make_request(const CLI::App& app, const BatchArguments& arguments) {
  BatchRequest request;
  for (const ConvertOption& option : convert_options()) request.worker.rules.push_back(option.rule);
  request.zoo = arguments.zoo;
  request.program = version_text();
  request.models = read_zoo(arguments, options_given(app, arguments), request.worker.rules);
  request.worker.output_folder = arguments.output;
  request.worker.extension = arguments.extension;
  request.worker.resume = arguments.resume;
  // The hashes tell apart builds of the same version number.
  request.worker.program = version_text() + " " + hash_of_file(own_program_path()) + " " + hash_of_file(engine_path());
  // The host's NNAPI is part of the program: it decides the results of --verify.
  const std::string nnapi = host_library_path();
  if (std::filesystem::is_regular_file(nnapi)) request.worker.program += " " + hash_of_file(nnapi);
  request.worker.convert = [](Arguments command_line) {
    engine().use_one_thread();            // the workers share the processors; one thread also makes sums reproducible
    command_line.push_back("--verbose");  // the last line tells the step in which a worker crashed
    return run_convert(command_line);
  };
  request.jobs = arguments.jobs;
  request.memory = arguments.memory;
  request.reserved = kLargeStackBytes;
  request.timeout = arguments.timeout;
  request.step_seconds = arguments.step_seconds;
  request.keep_going = arguments.keep_going;
  request.is_quiet = !spdlog::should_log(spdlog::level::warn);
  return request;
}

std::vector<std::string> torch_libraries_of(const BatchRequest& request) {
  std::vector<std::string> libraries;
  for (const BatchModel& model : request.models) {
    const auto given = model.options.find("torch-library");
    if (given != model.options.end()) libraries.insert(libraries.end(), given->second.begin(), given->second.end());
  }
  return libraries;
}

int exit_code_of(const Batch& batch, const std::optional<Comparison>& comparison) {
  if (comparison && comparison->regressions > 0) return kWorseThanBaseline;
  if (comparison) return comparison->unknown_failures > 0 ? kModelsFailed : 0;
  const bool all_converted = std::all_of(batch.outcomes.begin(), batch.outcomes.end(),
                                         [](const Outcome& outcome) { return outcome.status == Status::kConverted; });
  return all_converted ? 0 : kModelsFailed;
}

}  // namespace

int run_batch_command(const Arguments& command_line) {
  BatchArguments arguments;
  CLI::App app(kBatchDescription, "nnapi-convert batch");
  add_batch_options(app, arguments);
  add_time_limit(app, arguments.step_seconds);
  add_log_options(app);
  add_passed_options(app, arguments);
  app.footer("Limits of --baseline, and what they are unless given:\n" + limits_help());
  if (const auto code = parse_command_line(app, command_line, kBatchExitCodes)) return *code;
  refuse_standard_output("--output", arguments.output);
  Limits limits = default_limits();
  for (const std::string& text : arguments.limits) set_limit(limits, text);
  std::optional<nlohmann::json> earlier;
  if (!arguments.baseline.empty()) earlier = read_summary(arguments.baseline);
  const BatchRequest request = make_request(app, arguments);
  check_names(request);
  check_files_apart(files_of(arguments, request));
  check_proc();
  engine(torch_libraries_of(request));  // once, before workers are forked
  const BatchResult result = run_batch(request);
  std::optional<Comparison> comparison;
  if (earlier) comparison = compare(*earlier, summary_json(result.batch), limits);
  const std::string markdown = comparison ? comparison->markdown : "";
  std::cout << summary_text(result.batch) << (markdown.empty() ? "" : "\n" + markdown) << std::flush;
  write_summaries(result.batch, arguments.output, markdown);
  constexpr int kSignalled = 128;
  return result.signal != 0 ? kSignalled + result.signal : exit_code_of(result.batch, comparison);
}

}  // namespace nnapi_convert
