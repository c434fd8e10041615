#include "lib/converter/quantise/quantise_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/quantise/physical_sample.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"

namespace nnapi_convert {
namespace {

constexpr size_t kFewSamples = 5;  // all are for both
constexpr size_t kHoldBackEvery = 5;
constexpr size_t kMostHeldBack = 20;
constexpr size_t kAdvisedSamples = 32;
constexpr size_t kFirstSamples = 4;

// Every fifth sample is held back, but for a few samples.
quantise::Samples apart(const nnapi::Model& model, CalibrationSamples given, Diagnostics& diagnostics) {
  quantise::Samples samples;
  for (size_t i = 0; i < given.size(); ++i) {
    quantise::Sample sample = physical_sample(model, given[i]);
    given[i].clear();  // frees its memory
    const bool is_held_back =
        given.size() >= kFewSamples && i % kHoldBackEvery == 2 && samples.held_back.size() < kMostHeldBack;
    (is_held_back ? samples.held_back : samples.calibration).push_back(std::move(sample));
  }
  if (samples.held_back.empty()) {
    samples.held_back = samples.calibration;
    diagnostics.warn(
        fmt::format("calibration: {} sample{} found: too few to hold some back, the distance from float is "
                    "that of the same samples; give {} or more",
                    given.size(), given.size() == 1 ? "" : "s", kAdvisedSamples));
  } else if (given.size() < kAdvisedSamples) {
    diagnostics.warn(fmt::format("calibration: {} samples found; {} or more give ranges that hold for others",
                                 given.size(), kAdvisedSamples));
  }
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
    if (mode == QuantMode::kCore) {
      input.quantize = quantization_of(operand);
    } else {
      input.type = {at::kQUInt8, input.type.dims, quantization_of(operand)};
    }
  }
}

// Of a float output that is dequantised last: what it is dequantised from.
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

void check_can_quantise(const PlannedModel& planned, const ConvertOptions& options) {
  if (planned.quant != QuantMode::kNone) {
    throw ConvertError(ExitCode::kUsage, "--calibrate: the model is quantised already; convert it without --calibrate");
  }
  if (!planned.plan.is_whole()) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("--calibrate: parts of the model stay on the CPU, and only models that NNAPI runs "
                                   "whole are quantised by data: {}",
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

quantise::Options options_of(const ConvertOptions& options, const CalibrationOptions& calibration, QuantMode mode) {
  quantise::Options result;
  result.feature_level = options.target_level();
  result.per_channel = options.runtime == Runtime::kShim;
  result.integer_inputs = result.integer_outputs = mode != QuantMode::kNnapi;
  result.keep_float = calibration.keep_float;
  const auto has = [&](const char* technique) {
    return std::count(calibration.without.begin(), calibration.without.end(), technique) == 0;
  };
  result.techniques = {has(techniques::kEqualise), has(techniques::kCorrectBias), has(techniques::kSearchRanges),
                       has(techniques::kRefineRanges)};
  result.tries_all = calibration.tries_all;
  result.max_drop = calibration.max_drop;
  result.min_snr = calibration.min_snr;
  result.on_progress = calibration.on_progress;
  return result;
}

std::vector<Dims> arguments_of(const ModuleInterface& interface) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : interface.inputs) arguments.push_back(input.type.dims);
  return arguments;
}

void check_device(const nnapi::Model& model, const ConvertOptions& options, Diagnostics& diagnostics) {
  if (!options.device) return;
  const std::vector<nnapi::DeviceRefusal> refusals = options.device->refusals(model);
  if (refusals.empty()) return;
  diagnostics.warn(fmt::format("device {} doesn't take {} operations of the quantised model, the first {}: {}",
                               options.device->name(), refusals.size(), name_of(refusals[0].code), refusals[0].reason));
}

}  // namespace

quantise::Report quantise_plan(PlannedModel& planned, const LoadedModel& loaded, const ConvertOptions& options,
                               const CalibrationOptions& calibration, CalibrationSamples& first,
                               Diagnostics& diagnostics, Stages& stages) {
  check_can_quantise(planned, options);
  stages.begin("quantise");
  const bool is_given = options.quant != QuantMode::kAuto && options.quant != QuantMode::kNone;
  const QuantMode mode = is_given ? options.quant : QuantMode::kNnapi;
  NnapiPart& part = planned.plan.segments[0].part;
  const CalibrationSamples given = read_calibration(calibration, planned.interface, loaded, diagnostics);
  first.assign(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(std::min(given.size(), kFirstSamples)));
  const quantise::Samples samples = apart(part.model, given, diagnostics);
  quantise::Report report =
      quantise::quantise(part.model, arguments_of(planned.interface), samples, options_of(options, calibration, mode));
  for (const std::string& warning : report.warnings) diagnostics.warn(warning);
  set_inputs(part.model, mode, part.interface);
  set_outputs(part.model, mode, part.interface);
  planned.interface = part.interface;
  planned.quant = mode;
  check_device(part.model, options, diagnostics);
  stages.end([&] { return nnapi::to_text(part.model); });
  return report;
}

std::string to_text(const quantise::Report& report) {
  std::string text = fmt::format(
      "quantised {} of {} operations by {} samples, ranges by {}{}{}{}\n", report.integer_operations, report.operations,
      report.calibration_samples, quantise::name_of(report.method),
      report.refined_ranges > 0 ? fmt::format(", {} of them refined", report.refined_ranges) : "",
      report.is_equalised ? ", layers equalised" : "", report.is_bias_corrected ? ", biases corrected" : "");
  if (!report.left_float.empty()) {
    text += fmt::format("left float to hold the target: {}\n", fmt::join(report.left_float, ", "));
  }
  return text +
         fmt::format("distance from float on {} samples: RMS {:.4g}, SNR {:.1f} dB, cosine {:.5f}, top-1 {:.1f}%\n",
                     report.held_back_samples, report.distance.rms, report.distance.snr_db, report.distance.cosine,
                     100 * report.distance.top1);
}

}  // namespace nnapi_convert
