// SPDX-License-Identifier: BSD-3-Clause
// Runs a conversion: converts, verifies, reports, and renames the files into their places.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_apart.h"
#include "lib/base/held_back.h"
#include "lib/base/standard_output.h"
#include "lib/converter/convert.h"
#include "lib/converter/emit/attached_records.h"
#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/emit/litert_file.h"
#include "lib/converter/emit/litert_metadata.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/method_view.h"
#include "lib/converter/report/explain_speed.h"
#include "lib/converter/report/report.h"
#include "lib/converter/report/report_page.h"
#include "lib/converter/report/success_text.h"
#include "lib/converter/report/target_loss.h"
#include "lib/converter/samples/usual_pictures.h"
#include "lib/converter/verify/verdict.h"
#include "lib/converter/verify/verify.h"
#include "lib/quantise/quantise_plan.h"
#include "tools/nnapi-convert/engine/conversion_log.h"
#include "tools/nnapi-convert/engine/functions.h"
#include "tools/nnapi-convert/engine/package.h"
#include "tools/nnapi-convert/engine/progress.h"
#include "tools/nnapi-convert/engine/starting_files.h"

namespace nnapi_convert {
namespace {

bool has_stdout(const std::vector<std::string>& reports) {
  return std::any_of(reports.begin(), reports.end(), is_standard_output);
}

// The messages of a run besides its result.
struct Findings {
  Diagnostics diagnostics;
  std::shared_ptr<SourceChecks> checks;  // checks of the weights, which are read while they are written

  // Throws ConvertError (kBadFile) for a damaged weight: earlier messages about the model are then void.
  void check_weights() const {
    if (checks != nullptr) checks->finish();
  }
  std::optional<TargetLoss> loss;  // only if the command line gives a target
};

// Returns the options for planning. With data the plan is of the float model: --quant takes effect after it.
ConvertOptions for_planning(ConvertOptions options, const CalibrationOptions& calibration) {
  if (calibration.is_asked_for()) options.quant = QuantMode::kAuto;
  return options;
}

// Returns the report with the program and options that made it, and with the target's loss if there is one.
nlohmann::json completed(nlohmann::json report, const ConvertArguments& arguments,
                         const std::optional<TargetLoss>& loss) {
  report["program"] = {{"version", NNAPI_CONVERT_VERSION}, {"libtorch", NNAPI_CONVERT_TORCH_RELEASE}};
  report["options"] = arguments.told;
  if (loss) report["target"] = to_json(*loss);
  return report;
}

// Writes reports beside their places, and prints reports for standard output.
void add_reports(PendingTexts& texts, const std::vector<std::string>& paths, const nlohmann::json& report) {
  for (const std::string& path : paths) {
    if (is_standard_output(path)) {
      std::cout << report_text(report, "-");
    } else {
      texts.add(path, report_text(report, path));
    }
  }
}

// The files of a successful run. They are renamed into their places together, when all of them are complete.
struct Outputs {
  explicit Outputs(const ConvertArguments& arguments) {
    if (arguments.has_output) converted.emplace(arguments.output);
    if (!arguments.litert.empty()) litert.emplace(arguments.litert);
  }

  std::optional<PendingFile> converted, litert, cpu;
  PendingTexts reports, code;
};

// The request of a conversion's --verify. Without inputs of its own it takes the calibration's data that were held
// back.
VerifyRequest request_of(const ConvertArguments& arguments, Progress& progress, const std::string& converted) {
  VerifyRequest request;
  request.original = arguments.model;
  request.converted = converted;
  request.is_of_conversion = true;
  request.inputs_file = arguments.verify_inputs;
  request.on_progress = [&progress](size_t done, size_t all) { progress.show_part("verify", done, all); };
  return request;
}

Verification verify_output(VerifyRequest request, const std::vector<InputSpec>& inputs,
                           const CalibrationOptions& calibration, const std::optional<HoldBack>& hold_back) {
  request.inputs = inputs;
  if (request.inputs_file.empty() && calibration.source.rfind(kRandomSource, 0) != 0) {
    request.inputs_file = calibration.source;
    if (!request.inputs_file.empty()) request.hold_back = hold_back;
  }
  return verify(request);
}

// Returns which samples were held back, if data quantised the model or one of a package.
std::optional<HoldBack> hold_back_of(const Conversion& conversion) {
  if (conversion.quantised) return conversion.quantised->hold_back;
  for (const VariantSummary& variant : conversion.variants) {
    if (variant.quantised) return variant.quantised->hold_back;
  }
  return std::nullopt;
}

// Returns the inputs for --verify; none if models of a package have sizes of their own, which the file tells.
std::vector<InputSpec> sizes_for_verify(const ConvertArguments& arguments, const ConvertOptions& options) {
  const auto has_sizes = [](const PackageRequest& request) { return !request.inputs.empty(); };
  const bool are_own = std::any_of(arguments.package.begin(), arguments.package.end(), has_sizes);
  return are_own ? std::vector<InputSpec>{} : options.inputs;
}

// Compares each method with the original's.
void verify_methods(std::vector<MethodFindings>& methods, const ConvertArguments& arguments, Progress& progress,
                    const std::string& converted) {
  VerifyRequest request = request_of(arguments, progress, converted);
  for (MethodFindings& each : methods) {
    request.method = each.method.name;
    each.verification = verify_output(request, each.method.inputs, arguments.calibration, {});
  }
}

// Measures what the target costs each method; empty without a target.
std::vector<TargetLoss> losses_of(const LoadedModel& loaded, const ConvertArguments& arguments) {
  std::vector<TargetLoss> losses;
  if (!arguments.has_target) return losses;
  for (const std::string& method : arguments.methods) {
    LoadedModel view = as_forward(loaded, method);
    const ConvertOptions options =
        bind_arguments(view, options_of_method(loaded, arguments.methods, method, arguments.options));
    Frontend frontend = make_frontend(std::move(view), options);
    losses.push_back(measure_loss(frontend, options));
  }
  return losses;
}

void log_method(const MethodFindings& found, const std::optional<TargetLoss>& loss, bool is_stdout_taken) {
  const std::string& name = found.method.name;
  for (const std::string& line : summary_of(found.method.diagnostics.warnings)) spdlog::warn("{}: {}", name, line);
  if (loss) {
    spdlog::log(loss->costs_parts() ? spdlog::level::warn : spdlog::level::info, "{}: {}", name, to_text(*loss));
  }
  log_parts(found.method.conversion, name + ": ");
  log_weights(found.method.conversion, is_stdout_taken, name + ": ");
  if (found.verification) log_verification(*found.verification, is_stdout_taken, "method " + name + "\n");
}

// Returns the notes that the file tells people and apps about the model.
AppNotes notes_of(const ConvertArguments& arguments, std::vector<FolderFile> extra_files) {
  AppNotes notes;
  if (!arguments.labels.empty()) notes.labels = read_labels(arguments.labels);
  notes.notes = parse_notes(arguments.notes);
  notes.extra_files = std::move(extra_files);
  if (!arguments.options.strip_names) {
    notes.origin = origin_record(NNAPI_CONVERT_VERSION, arguments.given, arguments.model);
  }
  return notes;
}

// Warns if no output of a whole model has as many classes as there are labels.
void check_labels(const std::vector<std::string>& labels, const Conversion& conversion, Diagnostics& diagnostics) {
  constexpr size_t kPictureRank = 4, kChannels = 1;
  if (labels.empty() || !conversion.is_whole) return;
  std::vector<int64_t> counts;
  for (const nnapi::Boundary& output : conversion.segments[0].model.outputs) {
    const Dims& dims = conversion.segments[0].model.at(output.operand).dims;
    if (dims.empty()) continue;
    const bool has_channels = dims.size() == kPictureRank && !output.nhwc;
    const Dim& classes = dims[has_channels ? kChannels : dims.size() - 1];
    if (!classes.is_fixed() || classes.value() == static_cast<int64_t>(labels.size())) return;
    counts.push_back(classes.value());
  }
  diagnostics.warn(
      fmt::format("--labels: {} names found, and the outputs have {} classes", labels.size(), fmt::join(counts, ", ")));
}

// The messages about a LiteRT file: for people, and for the report. Empty and null without such a file.
struct WrittenLitert {
  std::string success;
  nlohmann::json report;

  nlohmann::json added_to(nlohmann::json whole) const {
    if (!report.is_null()) whole["litert"] = report;
    return whole;
  }
};

// Writes the LiteRT file, before the weights are released.
WrittenLitert write_litert(const std::vector<NamedConversion>& methods, Outputs& outputs,
                           const ConvertArguments& arguments, const AppNotes& notes, Diagnostics& diagnostics) {
  if (!outputs.litert) return {};
  litert::File file = make_litert_file(methods, arguments.litert_uint8, diagnostics);
  add_litert_metadata(file, *methods[0].second, notes);
  const uint64_t bytes = write_litert_file(file, outputs.litert->path().string());
  return {litert_success_text(file, arguments.model, arguments.litert, bytes),
          litert_json(file, arguments.litert, bytes)};
}

// With --verify, runs the LiteRT file in LiteRT. If that isn't possible, for example without Node, a conversion that
// writes only this file fails; another one warns, as its own file is verified.
std::optional<Verification> verify_litert_output(const Outputs& outputs, const ConvertArguments& arguments,
                                                 const ConvertOptions& options, const Conversion& conversion,
                                                 Progress& progress, Diagnostics& diagnostics) {
  if (!arguments.verify || !outputs.litert) return std::nullopt;
  try {
    return verify_output(request_of(arguments, progress, outputs.litert->path().string()),
                         sizes_for_verify(arguments, options), arguments.calibration, hold_back_of(conversion));
  } catch (const ConvertError& error) {
    if (!outputs.converted || error.exit_code() == ExitCode::kVerificationFailed) throw;
    diagnostics.warn(fmt::format("--verify: {} is not verified: {}", arguments.litert, error.what()));
    return std::nullopt;
  }
}

WrittenFile written_file(const Outputs& outputs, const ConvertArguments& arguments) {
  WrittenFile file{arguments.model, arguments.output, std::filesystem::file_size(outputs.converted->path()),
                   arguments.verify};
  if (is_file_of_samples(arguments.calibration.source)) {
    file.data = arguments.calibration.source;
  }
  return file;
}

// Prints what was written, and flushes standard output before the files take their places: if that fails, no file is
// written.
int finish(Outputs& outputs, bool is_verified, const ConvertArguments& arguments, const std::string& success) {
  const bool is_stdout_taken = has_stdout(arguments.reports) || !arguments.dump_after.empty();
  if (is_verified && !is_quiet()) (is_stdout_taken ? std::cerr : std::cout) << success;
  flush_standard_output();
  if (!is_verified) {
    outputs.reports.commit();
    spdlog::error("verification failed: {} is not written", arguments.shown_output());
    return static_cast<int>(ExitCode::kVerificationFailed);
  }
  for (auto* each : {&outputs.converted, &outputs.litert, &outputs.cpu}) {
    if (*each) (*each)->finish();
  }
  outputs.reports.commit();
  outputs.code.commit();
  for (auto* each : {&outputs.cpu, &outputs.litert, &outputs.converted}) {
    if (*each) (*each)->commit();
  }
  spdlog::info("wrote {}", arguments.shown_output());
  return static_cast<int>(ExitCode::kDone);
}

// Converts the methods that --method names, and writes the output; with --verify, checks each before the file takes its
// place.
int convert_methods_and_write(const ConvertArguments& arguments, LoadedModel loaded, Findings& findings,
                              Progress& progress) {
  const std::vector<TargetLoss> losses = losses_of(loaded, arguments);
  const AppNotes notes = notes_of(arguments, std::move(loaded.extra_files));
  MethodsConversion conversion = convert_methods(loaded, arguments.methods, arguments.options, findings.diagnostics);
  loaded = {};
  conversion.attached = records_of(notes);
  progress.show("write");
  Outputs outputs(arguments);
  std::vector<NamedConversion> named;
  for (const MethodConversion& each : conversion.methods) named.emplace_back(each.name, &each.conversion);
  const WrittenLitert litert = write_litert(named, outputs, arguments, notes, findings.diagnostics);
  const std::string converted = outputs.converted ? outputs.converted->path().string() : "";
  if (outputs.converted) write_and_release(conversion, converted);
  findings.check_weights();
  add_starting_code(outputs.code, arguments, converted);
  std::vector<MethodFindings> methods;
  for (size_t i = 0; i < conversion.methods.size(); ++i) {
    MethodConversion& method = conversion.methods[i];
    if (arguments.has_output) warn_of_small_model(method.conversion, arguments.options.segments, method.diagnostics);
    methods.push_back({method});
    if (!losses.empty()) methods.back().target = to_json(losses[i]);
  }
  if (arguments.verify) {
    progress.show("verify");
    verify_methods(methods, arguments, progress, outputs.converted ? converted : outputs.litert->path().string());
  }
  progress.clear();
  log_warnings(findings.diagnostics);
  for (size_t i = 0; i < methods.size(); ++i) {
    log_method(methods[i], losses.empty() ? std::nullopt : std::optional(losses[i]), has_stdout(arguments.reports));
  }
  if (!arguments.reports.empty()) {
    add_reports(
        outputs.reports, arguments.reports,
        litert.added_to(completed(make_report(arguments.model, arguments.shown_output(), findings.diagnostics, methods),
                                  arguments, {})));
  }
  const bool is_verified = std::all_of(methods.begin(), methods.end(), [](const MethodFindings& each) {
    return !each.verification || each.verification->passed;
  });
  const std::string success =
      outputs.converted ? success_text(conversion.methods, written_file(outputs, arguments)) : "";
  return finish(outputs, is_verified, arguments, success + litert.success);
}

// Converts one model or a package. `bound` is `loaded` with the arguments of `options`; each model of a package binds
// its own. LibTorch's modules have no move: std::exchange releases them.
Conversion convert_one_or_package(LoadedModel loaded, LoadedModel bound, const ConvertOptions& options,
                                  const ConvertArguments& arguments, const std::vector<std::string>& class_names,
                                  Findings& findings) {
  if (arguments.package.empty()) loaded = {};
  Frontend frontend = make_frontend(std::exchange(bound, {}), options, arguments.calibration);
  if (arguments.has_target) findings.loss = measure_loss(frontend, for_planning(options, arguments.calibration));
  if (arguments.package.empty())
    return convert(frontend, options, arguments.calibration, class_names, findings.diagnostics);
  frontend.release();
  return convert_package(std::exchange(loaded, {}), arguments, class_names, findings.diagnostics);
}

// Warns of --mean and --std that fit other pixels.
void check_normalisation(const ConvertArguments& arguments, Diagnostics& diagnostics) {
  PictureChoice pictures = arguments.calibration.pictures;
  if (const std::optional<PixelInput>& pixels = arguments.options.pixels) {
    pictures.pixel_max = pixels->pixel_max;
    pictures.mean = pixels->mean;
    pictures.std = pixels->std;
  }
  const std::string warning = other_pixels_warning(pictures);
  if (!warning.empty()) diagnostics.warn(warning);
}

// Converts and writes the output; with --verify, checks the result before the file takes its place.
int convert_and_write(const ConvertArguments& arguments, Findings& findings, Progress& progress) {
  Diagnostics& diagnostics = findings.diagnostics;
  for (const std::string& path : arguments.torch_libraries) load_torch_library(path);
  check_normalisation(arguments, diagnostics);
  progress.show("load");
  spdlog::info("load {}", arguments.model);
  // Quantising by data takes long: damaged weights are reported before it.
  const bool is_calibrated = arguments.calibration.is_asked_for();
  LoadedModel loaded =
      load_model(arguments.model, diagnostics, is_calibrated ? WeightChecks::kAtOnce : WeightChecks::kAsRead);
  findings.checks = loaded.checks;
  if (!arguments.methods.empty()) {
    return convert_methods_and_write(arguments, std::exchange(loaded, {}), findings, progress);
  }
  const AppNotes notes = notes_of(arguments, std::exchange(loaded.extra_files, {}));
  LoadedModel bound = loaded;
  const ConvertOptions options = bind_arguments(bound, arguments.options);
  std::vector<ResultSplit> splits;
  if (options.split_outputs) splits = splits_of(bound, options, arguments.calibration, diagnostics);
  split_results(bound, splits);
  // Copies the original only for the CPU counterpart: a copy keeps its weights in memory.
  std::optional<LoadedModel> original;
  if (!arguments.options.emit_cpu.empty()) original = bound;
  Conversion conversion = convert_one_or_package(std::exchange(loaded, {}), std::exchange(bound, {}), options,
                                                 arguments, notes.labels, findings);
  conversion.attached = records_of(notes);
  conversion.recorded_options = with_splits(conversion.recorded_options, splits);
  conversion.splits = std::move(splits);
  // The model of a package whose interface callers see may be one that data don't quantise.
  const PictureChoice& pictures = arguments.calibration.pictures;
  if (!conversion.pictures && pictures.is_given()) conversion.pictures = pictures;
  check_labels(notes.labels, conversion, diagnostics);
  if (arguments.has_output) warn_of_small_model(conversion, options.segments, diagnostics);
  progress.show("write");
  Outputs outputs(arguments);
  const WrittenLitert litert = write_litert({{"forward", &conversion}}, outputs, arguments, notes, diagnostics);
  const std::string converted = outputs.converted ? outputs.converted->path().string() : "";
  if (outputs.converted) write_and_release(conversion, converted);
  findings.check_weights();
  add_starting_code(outputs.code, arguments, converted);
  std::optional<Verification> verification;
  if (arguments.verify && outputs.converted) {
    progress.show("verify");
    verification = verify_output(request_of(arguments, progress, converted), sizes_for_verify(arguments, options),
                                 arguments.calibration, hold_back_of(conversion));
  }
  const std::optional<Verification> of_litert =
      verify_litert_output(outputs, arguments, options, conversion, progress, diagnostics);
  const bool is_verified = (!verification || verification->passed) && (!of_litert || of_litert->passed);
  if (original && is_verified) {
    outputs.cpu.emplace(arguments.options.emit_cpu);
    emit_cpu(*original, conversion, outputs.cpu->path().string());
  }
  progress.clear();
  log_warnings(diagnostics);
  log_few_samples(conversion);
  log_loss(findings.loss);
  log_parts(conversion);
  log_calibration(conversion, has_stdout(arguments.reports));
  log_weights(conversion, has_stdout(arguments.reports));
  log_splits(conversion, has_stdout(arguments.reports));
  if (verification) log_verification(*verification, has_stdout(arguments.reports));
  if (of_litert) log_verification(*of_litert, has_stdout(arguments.reports), "LiteRT:\n");
  if (!arguments.reports.empty()) {
    const nlohmann::json report =
        make_report(arguments.model, arguments.shown_output(), conversion, diagnostics, verification);
    add_reports(outputs.reports, arguments.reports, litert.added_to(completed(report, arguments, findings.loss)));
  }
  if (!arguments.calibration.table.empty() && !arguments.calibration.reads_table()) {
    outputs.reports.add(arguments.calibration.table, conversion.calibration_table);
  }
  const std::string success = outputs.converted ? success_text(conversion, written_file(outputs, arguments)) : "";
  return finish(outputs, is_verified, arguments, success + litert.success);
}

// Returns the arguments with callbacks that show each stage.
ConvertArguments with_progress(ConvertArguments arguments, Progress& progress) {
  arguments.options.on_stage = [&progress](const std::string& stage) {
    spdlog::info("{}", stage);
    progress.show(stage);
  };
  arguments.calibration.on_progress = [&progress](const std::string& what, size_t done, size_t all) {
    progress.show_part(what, done, all);
  };
  if (arguments.dump_after.empty()) return arguments;
  arguments.options.on_dump = [wanted = arguments.dump_after](const std::string& stage, const std::string& text) {
    if (stage == wanted) std::cout << text;
  };
  return arguments;
}

}  // namespace

int convert_and_print(const ConvertArguments& given) {
  Progress progress;
  const ConvertArguments arguments = with_progress(given, progress);
  Findings findings;
  try {
    return convert_and_write(arguments, findings, progress);
  } catch (const ConvertError& error) {
    progress.clear();
    findings.check_weights();
    log_warnings(findings.diagnostics);
    log_loss(findings.loss);
    if (!arguments.reports.empty() && error.exit_code() == ExitCode::kNotConvertible) {
      PendingTexts reports;
      add_reports(
          reports, arguments.reports,
          completed(make_failure_report(arguments.model, error, findings.diagnostics), arguments, findings.loss));
      flush_standard_output();
      reports.commit();
    }
    throw;
  }
}

}  // namespace nnapi_convert
