// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/quantise_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/file_pages.h"
#include "lib/base/held_back.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"
#include "lib/quantise/judging_samples.h"
#include "lib/quantise/named_operations.h"
#include "lib/quantise/phase_runs.h"
#include "lib/quantise/physical_sample.h"
#include "lib/quantise/preprocessing_check.h"
#include "lib/quantise/sample_run.h"
#include "lib/quantise/segment_samples.h"

namespace nnapi_convert {
namespace {

constexpr size_t kFewSamples = 5;  // so few serve for ranges and for judging
constexpr size_t kAdvisedSamples = 32;
constexpr size_t kFirstSamples = 4;

// Returns the samples by which the file checks a device. A file that is built from a table has no data; a file that
// writes a table takes none either, so that both files are the same.
CalibrationSamples first_of(const CalibrationSamples& given, const CalibrationOptions& calibration) {
  if (!calibration.table.empty()) return {};
  return {given.begin(), given.begin() + static_cast<std::ptrdiff_t>(std::min(given.size(), kFirstSamples))};
}

// Returns a warning about the limits of so few samples; empty if there are enough.
std::string few_samples_text(size_t count) {
  if (count < kFewSamples) {
    return fmt::format(
        "calibration: {} found: too few to hold some back, the distance from float is "
        "that of the same samples; give {} or more",
        counted(count, "sample"), kAdvisedSamples);
  }
  if (count >= kAdvisedSamples) return "";
  return fmt::format("calibration: {} found; {} or more give ranges that hold for others", counted(count, "sample"),
                     kAdvisedSamples);
}

// Sets the scoring of a model that NNAPI runs whole: its results are turned into forward's.
void add_scoring(quantise::Options& options, const ResultScoring& scoring, const CalibrationSamples& judging,
                 const LoadedModel& loaded, const PlannedModel& planned) {
  const auto original = std::make_shared<const ExpectedResults>(expected_results(loaded, planned, judging));
  const auto model = std::make_shared<const nnapi::Model>(planned.plan.segments[0].part.model);
  const auto number = [scoring, original, model, interface = planned.interface](const quantise::Results& results,
                                                                                bool is_float) {
    std::vector<ForwardResult> named;
    for (size_t i = 0; i < results.size(); ++i) {
      named.push_back(with_nnapi_results(original->named.at(i), results[i], *model, interface));
    }
    return scoring.of(named, is_float ? "float" : "integers");
  };
  options.scoring = {scoring.name, number, scoring.is_share};
}

// Divides the samples into those that ranges come from and those held back. Frees each given sample once it is taken
// over.
quantise::Samples apart(const nnapi::Model& model, CalibrationSamples given, const HoldBack& rule,
                        const SampleTruth& truth) {
  quantise::Samples samples;
  const SampleTruth judging = held_back_truth(truth, given.size(), rule);
  samples.classes = judging.classes;
  samples.class_output = judging.output;
  const std::vector<bool> is_held_back = held_back(given.size(), rule);
  for (size_t i = 0; i < given.size(); ++i) {
    auto& side = is_held_back[i] ? samples.held_back : samples.calibration;
    side.emplace_back(physical_sample(model, std::exchange(given[i], {})));
  }
  if (samples.held_back.empty()) samples.held_back = samples.calibration;
  return samples;
}

Quantization quantization_of(const nnapi::Operand& operand) {
  return {static_cast<double>(operand.scale), operand.zero_point};
}

void set_inputs(const nnapi::Model& model, QuantMode mode, ModuleInterface& interface) {
  for (const nnapi::Boundary& boundary : model.inputs) {
    const nnapi::Operand& operand = model.at(boundary.operand);
    if (!nnapi::is_quant8(operand.type)) continue;
    InterfaceInput& input = interface.inputs[boundary.argument];
    if (input.type.dtype == at::kByte) continue;  // the bytes are the integers
    if (mode == QuantMode::kCore) {
      input.quantize = quantization_of(operand);
    } else {
      input.type = {at::kQUInt8, input.type.dims, quantization_of(operand)};
    }
  }
}

// Returns the operand from which a float output is dequantised; the output itself if it isn't.
const nnapi::Operand& quantised_source(const nnapi::Model& model, nnapi::OperandId id) {
  for (const nnapi::Operation& operation : model.operations) {
    if (operation.code == OperationCode::DEQUANTIZE && operation.outputs[0] == id) return model.at(operation.inputs[0]);
  }
  return model.at(id);
}

void set_outputs(const nnapi::Model& model, QuantMode mode, ModuleInterface& interface) {
  for (InterfaceOutput& output : interface.outputs) {
    if (output.source != InterfaceOutput::Source::kNnapi) continue;
    const nnapi::Operand& operand = model.at(model.outputs[output.index].operand);
    output.quantization = quantization_of(quantised_source(model, model.outputs[output.index].operand));
    if (!nnapi::is_quant8(operand.type)) continue;
    output.dequantize = mode == QuantMode::kCore;
    output.dtype = mode == QuantMode::kCore ? at::kFloat : at::kQUInt8;
  }
}

void check_can_quantise(const PlannedModel& planned, const PlanOptions& options) {
  if (planned.quant != QuantMode::kNone) {
    throw ConvertError(ExitCode::kUsage, "--calibrate: the model is quantised already; convert it without --calibrate");
  }
  if (options.quant == QuantMode::kFull && !planned.plan.is_whole()) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("--quant full: parts of the model stay on the CPU and compute with floats; use "
                                   "--quant nnapi or core: {}",
                                   planned.plan.refusal->reason));
  }
  const bool returns_input =
      std::any_of(planned.interface.outputs.begin(), planned.interface.outputs.end(),
                  [](const InterfaceOutput& output) { return output.source == InterfaceOutput::Source::kInput; });
  if (options.quant == QuantMode::kFull && returns_input) {
    throw ConvertError(ExitCode::kNotConvertible,
                       "--quant full: forward returns one of its inputs, which would be quint8; use --quant nnapi");
  }
}

quantise::Options options_of(const PlanOptions& options, const CalibrationOptions& calibration, QuantMode mode) {
  quantise::Options result;
  result.feature_level = options.target_level();
  result.per_channel = options.runtime == Runtime::kShim;
  result.symmetric_weights = options.symmetric_weights;
  result.integer_inputs = result.integer_outputs = mode != QuantMode::kNnapi;
  result.keep_float = calibration.keep_float;
  result.device = options.device;
  const auto has = [&](const char* technique) {
    return std::count(calibration.without.begin(), calibration.without.end(), technique) == 0;
  };
  result.techniques = {has(techniques::kEqualise), has(techniques::kCorrectBias), has(techniques::kSearchRanges),
                       has(techniques::kRefineRanges), has(techniques::kPoolLayers)};
  result.tries_all = calibration.tries_all;
  result.target = {calibration.max_drop, calibration.min_snr};
  if (!calibration.on_progress) return result;
  result.on_progress = [show = calibration.on_progress](size_t done, size_t all) { show("quantise", done, all); };
  return result;
}

std::vector<Dims> arguments_of(const ModuleInterface& interface) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : interface.inputs) arguments.push_back(input.type.dims);
  return arguments;
}

void check_device(const nnapi::Model& model, const PlanOptions& options, Diagnostics& diagnostics) {
  if (!options.device) return;
  const std::vector<nnapi::DeviceRefusal> refusals = options.device->refusals(model);
  if (refusals.empty()) return;
  diagnostics.warn(fmt::format("device {} doesn't take {} of the quantised model, the first {}: {}",
                               options.device->name(), counted(refusals.size(), "operation"), name_of(refusals[0].code),
                               refusals[0].reason));
}

void set_interface(NnapiPart& part, QuantMode mode) {
  set_inputs(part.model, mode, part.interface);
  set_outputs(part.model, mode, part.interface);
}

// Quantises one segment's model, and gives the segment the interface that options.quant asks for.
quantise::Report quantise_part(NnapiPart& part, const quantise::Samples& samples, const quantise::Options& options,
                               QuantMode mode) {
  quantise::Report report = quantise::quantise(part.model, arguments_of(part.interface), samples, options);
  set_interface(part, mode);
  return report;
}

quantise::QuantisedParts quantise_whole(PlannedModel& planned, CalibrationSamples given, const HoldBack& rule,
                                        const SampleTruth& truth, const quantise::Options& options, QuantMode mode) {
  NnapiPart& part = planned.plan.segments[0].part;
  const quantise::Samples samples = apart(part.model, std::move(given), rule, truth);
  drop_library_pages();  // LibTorch's passes are done, and the samples need the memory
  quantise::Report report = quantise_part(part, samples, options, mode);
  planned.interface = part.interface;
  quantise::QuantisedParts result;
  result.calibration_samples = report.calibration_samples;
  result.held_back_samples = report.held_back_samples;
  result.distance = report.distance;
  result.accuracy = report.accuracy;
  result.score = report.score;
  result.parts.push_back({std::move(report)});
  return result;
}

// The segments' inputs on the samples that ranges come from, and on those held back.
struct SplitSamples {
  std::vector<SegmentSamples> calibration, held_back;  // by segment
  CalibrationSamples whole_held_back;                  // in the form that forward takes
  size_t count = 0;                                    // the number of samples from which ranges come
};

// Returns a copy of a model that keeps state, to run without changing the converted model's state; nothing for other
// models.
std::optional<Frontend> separate_state(const Frontend& frontend, const PlannedModel& planned,
                                       const PlanOptions& options) {
  const bool keeps_state = !planned.model.graph->inputs()[0]->uses().empty();
  if (!keeps_state) return std::nullopt;
  LoadedModel original = frontend.loaded();
  original.module = deep_copy(original.module);
  return Frontend(std::move(original), options);
}

SplitSamples run_segments(const PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                          CalibrationSamples given, const HoldBack& rule, const CalibrationOptions& calibration) {
  const size_t segments = planned.plan.segments.size();
  SplitSamples samples{std::vector<SegmentSamples>(segments), std::vector<SegmentSamples>(segments), {}, 0};
  PlanOptions of_floats = options;
  of_floats.quant = QuantMode::kAuto;
  std::optional<Frontend> separate = separate_state(frontend, planned, of_floats);
  SegmentRuns runs(planned, separate ? *separate : frontend);
  const std::vector<bool> is_held_back = held_back(given.size(), rule);
  for (size_t i = 0; i < given.size(); ++i) {
    const bool is_back = is_held_back[i];
    runs.add(given[i], is_back ? samples.held_back : samples.calibration);
    if (is_back) samples.whole_held_back.push_back(given[i]);
    samples.count += is_back ? 0 : 1;
    if (calibration.on_progress) calibration.on_progress("run the model", i + 1, given.size());
  }
  if (samples.whole_held_back.empty()) {
    samples.whole_held_back = std::move(given);
    samples.held_back = samples.calibration;
  }
  return samples;
}

void check_names(const Plan& plan, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_found = std::any_of(plan.segments.begin(), plan.segments.end(), [&](const PlannedSegment& segment) {
      return quantise::is_any_named(segment.part.model, name);
    });
    if (!is_found) quantise::refuse_name(name);
  }
}

quantise::QuantisedPart quantise_segment(NnapiPart& part, SegmentSamples& calibration, SegmentSamples& held_back,
                                         quantise::Options options, QuantMode mode) {
  if (calibration.calls.empty()) {
    return {{}, calibration.unknown > 0 ? "TorchScript has no values for what it reads" : "no sample runs it"};
  }
  options.keep_float = quantise::names_in(part.model, options.keep_float);
  quantise::Samples samples{std::move(calibration.calls), std::move(held_back.calls)};
  if (samples.held_back.empty()) samples.held_back = samples.calibration;
  try {
    return {quantise_part(part, samples, options, mode)};
  } catch (const quantise::NothingToQuantise&) {
    return {{},
            options.device ? "no operation of it can compute with integers on device " + options.device->name()
                           : "no operation of it can compute with integers at this feature level"};
  }
}

void warn_of_segment(size_t number, const quantise::QuantisedPart& part, size_t left_out, Diagnostics& diagnostics) {
  if (!part.report) {
    diagnostics.warn(fmt::format("calibration: segment {} stays float: {}", number, part.left_float));
    return;
  }
  for (const std::string& warning : part.report->warnings) {
    diagnostics.warn(fmt::format("segment {}: {}", number, warning));
  }
  if (left_out > 0) {
    diagnostics.warn(fmt::format("calibration: segment {}: {} of its runs are left out, more than memory is used for",
                                 number, left_out));
  }
}

// Joins the progress of the segments into one; each counts by the cost of its runs.
class SegmentProgress {
 public:
  SegmentProgress(const Plan& plan, const CalibrationOptions& calibration) : calibration_(calibration) {
    for (const PlannedSegment& segment : plan.segments) {
      const double runs = static_cast<double>(quantise::most_runs_of(segment.part.model, false));
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) +
                      runs * static_cast<double>(quantise::run_cost_of(segment.part.model)));
    }
  }

  std::function<void(size_t done, size_t all)> of_segment(size_t number) const {
    const double begin = number == 0 ? 0 : ends_[number - 1], size = ends_[number] - begin;
    return [this, begin, size](size_t done, size_t all) {
      constexpr double kParts = 100'000;
      const double share = static_cast<double>(done) / static_cast<double>(std::max<size_t>(all, 1));
      const auto parts = static_cast<size_t>(kParts * (begin + size * share) / ends_.back());
      calibration_.on_progress("quantise", parts, static_cast<size_t>(kParts));
    };
  }

 private:
  const CalibrationOptions& calibration_;
  std::vector<double> ends_;  // by segment: the share of all work that is done after it
};

QuantisedPlan quantise_split(PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                             CalibrationSamples given, const HoldBack& rule, const CalibrationOptions& calibration,
                             quantise::Options quantising, QuantMode mode, Diagnostics& diagnostics) {
  check_names(planned.plan, quantising.keep_float);
  SplitSamples samples = run_segments(planned, frontend, options, std::move(given), rule, calibration);
  quantising.target.is_of_whole = false;
  // A score of the whole model says nothing about a segment.
  if (!calibration.sample_boxes.empty() || !calibration.metric_command.empty()) quantising.target.max_drop.reset();
  QuantisedPlan result;
  result.parts.is_whole = false;
  result.parts.calibration_samples = samples.count;
  result.parts.held_back_samples = samples.whole_held_back.size();
  SegmentProgress progress(planned.plan, calibration);
  for (size_t i = 0; i < planned.plan.segments.size(); ++i) {
    const size_t left_out = samples.calibration[i].left_out + samples.held_back[i].left_out;
    if (calibration.on_progress) quantising.on_progress = progress.of_segment(i);
    result.parts.parts.push_back(quantise_segment(planned.plan.segments[i].part, samples.calibration[i],
                                                  samples.held_back[i], quantising, mode));
    warn_of_segment(i, result.parts.parts.back(), left_out, diagnostics);
  }
  const bool is_any = std::any_of(result.parts.parts.begin(), result.parts.parts.end(),
                                  [](const quantise::QuantisedPart& part) { return part.report.has_value(); });
  if (!is_any) throw quantise::NothingToQuantise();
  result.expected = expected_results(frontend.loaded(), planned, samples.whole_held_back);
  return result;
}

QuantisedPlan quantise_by_table(PlannedModel& planned, const CalibrationOptions& calibration,
                                const std::vector<TableModel>& models, const quantise::Options& options, QuantMode mode,
                                Diagnostics& diagnostics) {
  ReadTable table = read_calibration_table(calibration, models, diagnostics);
  const quantise::TakeRequest request{
      nnapi::IntegerRules::of(options.feature_level, options.per_channel, options.symmetric_weights),
      options.integer_inputs, options.integer_outputs};
  for (size_t i = 0; i < models.size(); ++i) {
    if (!table.parts.parts[i].report) continue;
    NnapiPart& part = planned.plan.segments[i].part;
    quantise::Taken taken = quantise::take_choice(part.model, table.parts.parts[i].report->choice, request);
    if (!taken.problem.empty()) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("--calibration {}: {}", calibration.table, taken.problem));
    }
    part.model = std::move(taken.model);
    set_interface(part, mode);
  }
  if (planned.plan.is_whole()) planned.interface = planned.plan.segments[0].part.interface;
  table.parts.is_by_table = true;
  QuantisedPlan result;
  result.parts = std::move(table.parts);
  result.recorded = std::move(table.calibration);
  return result;
}

}  // namespace

QuantisedPlan quantise_plan(PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                            const CalibrationOptions& calibration, const std::vector<std::string>& class_names,
                            Diagnostics& diagnostics, Stages& stages) {
  check_can_quantise(planned, options);
  stages.begin("quantise");
  const QuantMode mode = options.quant == QuantMode::kAuto ? QuantMode::kNnapi : options.quant;
  quantise::Options quantising = options_of(options, calibration, mode);
  QuantisedPlan result;
  std::vector<TableModel> models;
  if (!calibration.table.empty()) {
    for (const PlannedSegment& segment : planned.plan.segments) models.push_back(table_model(segment.part.model));
  }
  if (calibration.reads_table()) {
    result = quantise_by_table(planned, calibration, models, quantising, mode, diagnostics);
  } else {
    CalibrationData data = read_calibration(calibration, planned.interface, frontend.loaded(), diagnostics);
    CalibrationSamples& samples = data.samples;
    const std::string few_samples = few_samples_text(samples.size());
    if (!few_samples.empty()) diagnostics.warn(few_samples);
    check_runs_on_samples(frontend.loaded(), planned.interface, samples);
    const CalibrationSamples first = first_of(samples, calibration);
    const std::vector<FedRange> fed = fed_ranges(samples, planned.interface);
    const SampleTruth truth = truth_of(calibration, data, class_names, frontend.loaded(), planned);
    check_preprocessing(calibration, data, truth, planned, frontend, diagnostics);
    const size_t count = samples.size();
    const bool has_scoring = !calibration.sample_boxes.empty() || !calibration.metric_command.empty();
    const HoldBack rule = hold_back_for(planned, count, calibration, truth.has_classes(), has_scoring);
    // Releases them: they would keep samples in memory without need.
    const Judging judging = has_scoring ? judging_of(data, rule) : Judging{};
    const std::optional<ResultScoring> scoring = scoring_of(calibration, judging.names, judging.samples, class_names);
    if (planned.plan.is_whole()) {
      if (scoring) add_scoring(quantising, *scoring, judging.samples, frontend.loaded(), planned);
      result.parts = quantise_whole(planned, std::move(samples), rule, truth, quantising, mode);
      for (const std::string& warning : result.parts.parts[0].report->warnings) diagnostics.warn(warning);
    } else {
      result = quantise_split(planned, frontend, options, std::move(samples), rule, calibration, quantising, mode,
                              diagnostics);
      result.truth = held_back_truth(truth, count, rule);
      result.scoring = scoring;
    }
    result.parts.class_source = truth.source;
    result.parts.fed = fed;
    result.parts.hold_back = rule;
    result.parts.few_samples = few_samples;
    result.recorded = calibration;
    result.first_samples = first;
  }
  result.models = std::move(models);
  planned.quant = mode;
  for (const PlannedSegment& segment : planned.plan.segments) check_device(segment.part.model, options, diagnostics);
  stages.end([&] {
    std::string text;
    for (const PlannedSegment& segment : planned.plan.segments) text += nnapi::to_text(segment.part.model);
    return text;
  });
  return result;
}

std::string table_of(const QuantisedPlan& quantised) {
  return calibration_table(quantised.models, quantised.parts, quantised.recorded);
}

}  // namespace nnapi_convert
