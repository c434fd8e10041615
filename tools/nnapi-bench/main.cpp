// SPDX-License-Identifier: BSD-3-Clause
// nnapi-bench: times a TorchScript module on this device, as PyTorch's speed_benchmark_torch does, and reports more.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json_text.h"
#include "lib/base/standard_output.h"
#include "tools/nnapi-bench/measure.h"
#include "tools/nnapi-bench/report.h"
#include "tools/nnapi-bench/torch_error.h"

namespace nnapi_bench {
namespace {

using nnapi_convert::ConvertError;
using nnapi_convert::ExitCode;

struct CommandLine {
  Request request;
  std::vector<std::string> shim_options;
  std::string compare, report, nnapi_library;
  bool report_pep = false;
};

constexpr const char* kDescription =
    "Times a TorchScript module: one that nnapi-convert wrote, for PyTorch's NNAPI loader or for the shim, or a plain "
    "one\n"
    "on the CPU. Flags and closing line are those of PyTorch's speed_benchmark_torch.\n"
    "\n"
    "Examples:\n"
    "  nnapi-bench --model=out.pt --use_bundled_input=0 --warmup=5 --iter=20\n"
    "  nnapi-bench --model=out.pt --input_dims=1,3,224,224 --input_type=float --report=out.json\n"
    "  nnapi-bench --model=out.pt --use_bundled_input=0 --iter=20 --compare=cpu.pt\n"
    "\n"
    "The first inference of a process builds and compiles: it is timed apart from the others, also with --warmup=0.";

constexpr const char* kFooter = R"(Flags of speed_benchmark_torch that there are not here:
  --use_caching_allocator  LibTorch's packages come without its header
  --vulkan                 modules for NNAPI take tensors in memory
  --pytext_len             an argument of one family of text models

Exit codes:
  0   done
  1   the model does not run
  2   wrong command line, or inputs or options that the model does not have
  3   a file can't be read or written, or is malformed
  70  internal error)";

void add_options(CLI::App& app, CommandLine& line) {
  Request& request = line.request;
  app.get_formatter()->column_width(34);
  app.add_option("--model", request.model, "the TorchScript file, .pt or .ptl")->required()->type_name("FILE");
  app.add_option("--use_bundled_input", request.inputs.use_bundled_input, "run on the bundled inputs of this number")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N");
  app.add_option("--input_dims", request.inputs.input_dims,
                 "sizes of inputs, filled with ones: 1,3,224,224; semicolons between inputs")
      ->type_name("SIZES");
  app.add_option("--input_type", request.inputs.input_type,
                 "float, uint8_t, int32, int64 or quint8:SCALE:ZERO_POINT for each input, or one for all")
      ->type_name("TYPES");
  app.add_option("--input_memory_format", request.inputs.input_memory_format,
                 "contiguous_format or channels_last for each input, or one for all")
      ->type_name("FORMATS");
  app.add_flag("--no_inputs", request.inputs.no_inputs, "forward takes no arguments");
  app.add_option("--warmup", request.warmup, "inferences before the timed ones [0]")
      ->check(CLI::Range(0, 1000000000))
      ->type_name("N");
  app.add_option("--iter", request.iterations, "timed inferences [10]")
      ->check(CLI::Range(1, 1000000000))
      ->type_name("N");
  app.add_option("--pthreadpool_size", request.threads, "CPU threads; 0: as LibTorch chooses [0]")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  app.add_flag("--print_output", request.print_output, "print the result of an inference");
  app.add_flag("--report_pep", line.report_pep, "print each timed inference as a PyTorchObserver line");
  app.add_option("--compare", line.compare,
                 "time this CPU model with 1, 2 and 4 threads, as far as there are cores, and print a table")
      ->type_name("CPU.pt");
  app.add_option("--report", line.report, "write what was measured as JSON (schemas/bench.schema.json)")
      ->type_name("FILE");
  app.add_option("--shim_option", line.shim_options, "an option of the shim, for example device=NAME (docs/shim.md)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--nnapi_library", line.nnapi_library,
                 "another NNAPI than the device's, or on a host the project's own")
      ->type_name("FILE");
  app.footer(kFooter);
}

void read_shim_options(CommandLine& line) {
  for (const std::string& option : line.shim_options) {
    const size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--shim_option: '{}' found, KEY=VALUE needed", option));
    }
    line.request.shim_options[option.substr(0, equals)] = option.substr(equals + 1);
  }
}

// Returns the number of cores, at least 1.
int core_count() {
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

// Measures the CPU model with 1, 2 and 4 threads, but not with more threads than cores (threads that wait for a core
// can take a hundred times as long), then adds the row of the model itself.
std::vector<ComparisonRow> compare(const CommandLine& line, const Measurement& measured) {
  Request request = line.request;
  request.model = line.compare;
  request.shim_options.clear();
  Bench bench(request);
  if (bench.runtime() != Runtime::kCpu) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--compare: {} is a model for NNAPI, one for the CPU needed; "
                                                     "nnapi-convert --emit-cpu writes it",
                                                     line.compare));
  }
  std::vector<ComparisonRow> rows;
  for (const int threads : {1, 2, 4}) {
    if (threads > 1 && threads > core_count()) continue;
    rows.push_back({fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s"), bench.run(threads)});
  }
  rows.push_back({measured.runtime == Runtime::kCpu ? "--model" : "NNAPI", measured});
  return rows;
}

void print_comparison(const std::vector<ComparisonRow>& rows) {
  std::cout << comparison_table(rows);
  if (core_count() < 4) {
    std::cout << fmt::format("Not measured with 4 threads: this device has {} cores.\n", core_count());
  }
}

int run(const CommandLine& line) {
  const Request& request = line.request;
  check_flags(request.inputs);
  load_nnapi(line.nnapi_library);
  Bench bench(request);
  if (request.print_output) bench.print_output();
  std::cout << "Starting benchmark.\nRunning warmup runs.\nMain runs.\n" << std::flush;
  const Measurement measured = bench.run(request.threads);
  const std::vector<Device> devices = measured.runtime == Runtime::kCpu ? std::vector<Device>() : list_devices();
  nlohmann::ordered_json report = to_json(request, measured, devices);
  if (line.report_pep) std::cout << observer_lines(measured);
  std::cout << details(request, measured, devices);
  if (!line.compare.empty()) {
    const std::vector<ComparisonRow> rows = compare(line, measured);
    report["comparison"] = to_json(rows);
    print_comparison(rows);
  }
  if (!line.report.empty()) nnapi_convert::write_file(line.report, nnapi_convert::json_text(report, 2) + "\n");
  std::cout << closing_line(measured);
  nnapi_convert::flush_standard_output();
  return static_cast<int>(ExitCode::kDone);
}

int fail(const std::string& message, ExitCode code) {
  fmt::print(stderr, "nnapi-bench: error: {}\n", message);
  return static_cast<int>(code);
}

int guarded_main(int argc, char** argv) {
  CommandLine line;
  CLI::App app(kDescription, "nnapi-bench");
  add_options(app, line);
  try {
    app.parse(argc, argv);
    read_shim_options(line);
    return run(line);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return static_cast<int>(ExitCode::kDone);
  } catch (const CLI::ParseError& error) {
    return fail(fmt::format("{}; see nnapi-bench --help", error.what()), ExitCode::kUsage);
  } catch (const ConvertError& error) {
    return fail(error.what(), error.exit_code());
  }
}

}  // namespace
}  // namespace nnapi_bench

int main(int argc, char** argv) {
  try {
    return nnapi_bench::guarded_main(argc, argv);
  } catch (const std::exception& error) {
    return nnapi_bench::fail(
        fmt::format("internal error, please report it with the model: {}", nnapi_bench::message_of(error)),
        nnapi_convert::ExitCode::kInternal);
  }
}
