// SPDX-License-Identifier: BSD-3-Clause
// nnapi-convert verify MODEL OUT: compares original and result on the same inputs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "lib/base/error.h"
#include "lib/base/files_apart.h"
#include "tools/nnapi-convert/command_line.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/engine.h"
#include "tools/nnapi-convert/input_spec.h"

namespace nnapi_convert {
namespace {

std::string description() {
  return fmt::format(
      "Runs a model and its converted form on the same inputs on this machine and compares the results.\n"
      "The converted form runs through stock PyTorch's NNAPI loader on the host's NNAPI.\n"
      "\n"
      "Examples:\n"
      "  nnapi-convert verify model.pt out.pt\n"
      "  nnapi-convert verify quantised.pt out.pt --reference float.pt\n"
      "  nnapi-convert verify model.pt out.pt --inputs images.pt --tolerance 1e-3\n"
      "  nnapi-convert verify model.pt out.pt --per-op\n"
      "\n"
      "It passes if\n"
      "  for a float model, the max error is at most {:g} of the range of the original's output\n"
      "  (--tolerance);\n"
      "  for a quantised model with --reference, the RMS distance of NNAPI's results from the float\n"
      "  model's is at most {} times that of TorchScript's, {} times if its weights are per channel;\n"
      "  for a quantised model without, the SNR is at least {} dB.",
      VerifyDefaults::kFloatTolerance, VerifyDefaults::kMaxDistanceRatio, VerifyDefaults::kMaxPerChannelRatio,
      VerifyDefaults::kQuantizedSnr);
}

FilesInUse files_of(const VerifyArguments& arguments) {
  const VerifyRequest& request = arguments.request;
  FilesInUse files;
  files.read = {{"MODEL", request.original},
                {"OUT", request.converted},
                {"--inputs", is_file_of_samples(request.inputs_file) ? request.inputs_file : "", AlsoFits::kFolder},
                {"--reference", request.reference}};
  files.written = {{"--results", arguments.results}};
  add_libraries(files, arguments.torch_libraries);
  return files;
}

const ExitCodes kVerifyExitCodes = {{"0", "the results agree"},
                                    {"1", "--per-op: the original doesn't convert as the file was"},
                                    {"2", "wrong command line"},
                                    {"3", "a file can't be read or is malformed"},
                                    {"4", "they differ, or a model fails to run"},
                                    {"70", "internal error"},
                                    {"75", "memory, stack or time is not enough"}};

}  // namespace

int run_verify(const Arguments& command_line) {
  VerifyArguments arguments;
  VerifyRequest& request = arguments.request;
  std::vector<std::string> inputs;
  CLI::App app(description(), "nnapi-convert verify");
  app.add_option("MODEL", request.original, "the original TorchScript file")->required()->type_name(" ");
  app.add_option("OUT", request.converted, "the converted file")->required();
  app.add_option("--method", arguments.methods, "of a file of several methods, compare this one; repeatable; else all")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--input", inputs, "sizes of arguments with flexible sizes, or of a script's, in order")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  app.add_option("--inputs", request.inputs_file,
                 "in place of random ones: tensors by torch.save((x, ...), FILE), or a tuple of such tuples;\n"
                 ".npy or .npz; a folder of these, or of pictures, if OUT knows how they are prepared")
      ->type_name("FILE");
  app.add_option("--results", arguments.results,
                 "write inputs and results to a .npz file, whatever the comparison says")
      ->type_name("FILE")
      ->group("More options");
  app.add_option("--reference", request.reference, "the float twin of a quantised model")->type_name("FLOAT.pt");
  app.add_option("--samples", request.samples,
                 fmt::format("number of random inputs [{}; with --reference {}]", VerifyDefaults::kSamples,
                             VerifyDefaults::kReferenceSamples))
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", request.seed, "seed of the random inputs")
      ->check(not_negative())
      ->capture_default_str()
      ->group("More options");
  app.add_option("--tolerance", request.tolerance, "largest error allowed, as a share of the output's range")
      ->check(not_negative());
  app.add_flag("--fp16", request.fp16, "round each float result to half precision, as --relax-fp16 lets drivers");
  app.add_flag("--without-torch", request.without_torch,
               "run OUT as an app without PyTorch does: by libnnapi_shim, of a file made with --runtime shim")
      ->group("More options");
  app.add_flag("--per-op", arguments.per_op,
               "compare every value on the way instead, and name the first operation whose result drifts");
  add_library_option(app, arguments.torch_libraries);
  app.add_option("--format", arguments.format, "how to show the result")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_time_limit(app);
  add_log_options(app);
  if (const auto code = parse_command_line(app, command_line, kVerifyExitCodes)) return *code;
  for (const std::string& text : inputs) {
    request.inputs.push_back(parse_input_spec(text));
    // The converted file has the values to which arguments are bound, so --input can't give them here.
    const InputSpec& spec = request.inputs.back();  // the name may be a number's, whose value is no list of sizes
    if (spec.name.empty() && !spec.problem.empty()) throw ConvertError(ExitCode::kUsage, spec.problem);
  }
  check_files(files_of(arguments));
  return engine(arguments.torch_libraries).verify(arguments);
}

}  // namespace nnapi_convert
