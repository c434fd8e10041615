// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/verify.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/base/watched_run.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/frontend/pixel_input.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/graph/silenced_warnings.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/load.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/converter/load/packed_weights.h"
#include "lib/converter/verify/accumulator.h"
#include "lib/converter/verify/border_check.h"
#include "lib/converter/verify/litert_runner.h"
#include "lib/converter/verify/shim_runner.h"
#include "lib/converter/verify/tolerance.h"
#include "lib/converter/verify/verdict.h"
#include "lib/converter/verify/verify_inputs.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw ConvertError(ExitCode::kVerificationFailed, message);
}

// Returns a hint for inputs on which the original fails.
std::string hint_for(const VerifyRequest& request, const Metadata& metadata) {
  if (!request.inputs_file.empty()) return "";
  const auto& inputs = metadata.inputs;
  const bool is_flexible =
      std::any_of(inputs.begin(), inputs.end(), [](const MetadataInput& input) { return !all_fixed(input.type.dims); });
  return fmt::format(
      "; its inputs were random{}: give others with `nnapi-convert verify --inputs FILE`, written by "
      "torch.save((x, ...), FILE){}",
      is_flexible ? ", of sizes where the model takes any" : "",
      is_flexible ? ", or other sizes with `verify --input`" : "");
}

// Runs the module on copies of the inputs, as it may change them.
Tensors run(torch::jit::Module& module, const InputTuple& inputs, const char* which, const std::string& hint = "") {
  Tensors outputs;
  const SilencedWarnings no_warnings;  // they are not of this comparison
  try {
    const c10::InferenceMode guard;
    const KernelsAsDefined kernels(saved_graphs(module));
    InputTuple own;
    for (const c10::IValue& input : inputs) own.push_back(deep_copy(input));
    flatten(module.forward(own), outputs);
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    fail(fmt::format("{} doesn't run: {}", which, missing.empty() ? torch_reason(error) + hint : missing));
  }
  return outputs;
}

// Runs a model that isn't converted. PyTorch's optimiser fails on some models in their second run; without it, autocast
// in scripts does nothing.
Tensors run_unconverted(torch::jit::Module& module, const InputTuple& inputs, const char* which,
                        const std::string& hint = "") {
  try {
    return run(module, inputs, which, hint);
  } catch (const ConvertError&) {
    const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
    return run(module, inputs, which, hint);
  }
}

// Runs the module; returns nothing if this machine can't run it, for example for want of float16 kernels.
std::optional<Tensors> run_if_possible(torch::jit::Module& module, const InputTuple& inputs) {
  try {
    return run_unconverted(module, inputs, "the original");
  } catch (const ConvertError&) {
    return std::nullopt;
  }
}

void check_same_outputs(const Tensors& original, const Tensors& converted) {
  if (original.size() != converted.size()) {
    fail(fmt::format("the original gives {} and the converted model {}", counted(original.size(), "tensor"),
                     converted.size()));
  }
  for (size_t i = 0; i < original.size(); ++i) {
    if (original[i].sizes() == converted[i].sizes()) continue;
    fail(fmt::format("output {}: shape [{}] found, [{}] needed", i, fmt::join(converted[i].sizes(), ", "),
                     fmt::join(original[i].sizes(), ", ")));
  }
}

// Quantised tensors may be float32 on one side.
void check_same_dtypes(const Tensors& original, const Tensors& converted) {
  for (size_t i = 0; i < original.size(); ++i) {
    const at::ScalarType needed = original[i].scalar_type(), found = converted[i].scalar_type();
    if (needed == found || original[i].is_quantized() || converted[i].is_quantized()) continue;
    fail(fmt::format("output {}: dtype {} found, {} needed", i, dtype_name(found), dtype_name(needed)));
  }
}

// How far the original is from the float model that it stands for.
class OriginalErrors {
 public:
  void add(const Tensors& meaning, const std::optional<Tensors>& original) {
    if (!original) return;
    check_same_outputs(*original, meaning);
    check_same_dtypes(*original, meaning);
    outputs_.resize(std::max(outputs_.size(), meaning.size()));
    for (size_t i = 0; i < meaning.size(); ++i) outputs_[i].add(meaning[i], (*original)[i]);
  }

  std::optional<OriginalDistance> result() const {
    if (outputs_.empty()) return std::nullopt;
    OriginalDistance worst{0, std::numeric_limits<double>::infinity()};
    for (const Accumulator& output : outputs_) {
      const OutputComparison comparison = output.result({});
      worst.relative_error = std::max(worst.relative_error, comparison.relative_error);
      worst.snr_db = std::min(worst.snr_db, comparison.snr_db);
    }
    return worst;
  }

 private:
  std::vector<Accumulator> outputs_;
};

// Pooled squared distance of results from the float model's.
struct Distance {
  double squares = 0, count = 0;
  void add(const Tensors& results, const Tensors& reference) {
    for (size_t i = 0; i < results.size(); ++i) {
      const at::Tensor error = real_values(results[i]) - real_values(reference[i]);
      squares += error.square().sum().item().toDouble();
      count += static_cast<double>(error.numel());
    }
  }
  double rms() const { return std::sqrt(squares / count); }
};

// Numbers at the borders of float32 are beyond float16's.
void check_at_borders(Verification& result, const VerifyRequest& request, const LoadedModel& original,
                      const Metadata& metadata, const Values& ordinary, BorderRuns runs) {
  if (result.is_quantized || result.reference || !request.inputs_file.empty() || request.fp16) return;
  BorderLimits limits = limits_of(original.module);
  limits.takes_indices = indices_of(request, original, metadata);
  runs.orders_sums = limits.orders_sums;
  const std::vector<BorderSample> samples = border_samples(ordinary, limits);
  result.border_samples = static_cast<int>(samples.size());
  result.borders = check_borders(samples, result.samples + 1, runs);
  result.passed = result.passed && std::none_of(result.borders.begin(), result.borders.end(),
                                                [](const BorderFinding& finding) { return finding.is_fault; });
}

// While it lives, the host's NNAPI computes relaxed models in half precision.
class HalfPrecision {
 public:
  explicit HalfPrecision(bool is_wanted) : is_wanted_(is_wanted) {
    if (is_wanted_) ::setenv(kVariable, "fp16", 1);
  }
  ~HalfPrecision() {
    if (is_wanted_) ::unsetenv(kVariable);
  }
  HalfPrecision(const HalfPrecision&) = delete;
  HalfPrecision& operator=(const HalfPrecision&) = delete;

 private:
  static constexpr const char* kVariable = "NNAPI_HOST_RELAX";
  bool is_wanted_;
};

bool is_relaxed(const ConvertedFile& converted) {
  return recorded_options(converted).relax_fp16;
}

[[noreturn]] void refuse_half_precision(const VerifyRequest& request) {
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--fp16: {} asks drivers for float32, so that half precision changes nothing: it was "
                                 "converted without --relax-fp16, or had to leave it out",
                                 request.converted));
}

// In the order of the inputs.
std::vector<FedRange> fed_ranges_of(const std::vector<Values>& samples, const Metadata& metadata) {
  std::map<size_t, FedRange> ranges;
  const auto add = [&](size_t number, const at::Tensor& tensor) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) return tensor;
    const double lowest = tensor.min().item().toDouble(), highest = tensor.max().item().toDouble();
    const auto [found, is_new] = ranges.try_emplace(number, FedRange{metadata.inputs.at(number).name, lowest, highest});
    found->second.lowest = std::min(found->second.lowest, lowest);
    found->second.highest = std::max(found->second.highest, highest);
    return tensor;
  };
  for (const Values& sample : samples) with_tensors(sample, add);
  std::vector<FedRange> result;
  for (const auto& each : ranges) result.push_back(each.second);
  return result;
}

bool are_finite(const std::optional<Tensors>& results) {
  return results && std::all_of(results->begin(), results->end(), [](const at::Tensor& tensor) {
           return !tensor.is_floating_point() || tensor.isfinite().all().item().toBool();
         });
}

// The samples to compare on. Integers that are made up are flags, or positive, where the original gives infinite
// numbers or fails for others, as models with masks or lengths do. A model that keeps state isn't asked: its state
// would change.
std::vector<Values> samples_for(const VerifyRequest& request, LoadedModel& original, const ConvertedFile& converted,
                                const ForwardArguments& arguments, int count) {
  const auto make = [&](MadeIntegers integers) {
    return make_samples(request, original, converted, arguments, count, integers);
  };
  std::vector<Values> samples = make(MadeIntegers::kDigits);
  const std::vector<MetadataInput>& inputs = converted.metadata.inputs;
  const bool has_integers = std::any_of(inputs.begin(), inputs.end(), [](const MetadataInput& input) {
    return c10::isIntegralType(input.type.dtype, false);
  });
  const bool is_asked = has_integers && request.inputs_file.empty() && !samples.empty();
  if (!is_asked || limits_of(original.module).is_driven_by_values) return samples;
  const auto is_finite = [&](const Values& sample) {
    return are_finite(
        run_if_possible(original.module, assemble(arguments, with_original_dtypes(sample, converted.metadata))));
  };
  const auto are_results_finite = [&](const std::vector<Values>& of) {
    return std::all_of(of.begin(), of.end(), is_finite);
  };
  if (are_results_finite(samples)) return samples;
  for (const MadeIntegers integers : {MadeIntegers::kFlags, MadeIntegers::kPositive}) {
    std::vector<Values> others = make(integers);
    if (are_results_finite(others)) return others;
  }
  return samples;
}

// Runs the converted model on the leaves of forward's arguments.
using RunConverted = std::function<Tensors(const Values&)>;

Verification verify_file(const VerifyRequest& request, LoadedModel& original, std::optional<LoadedModel>& reference,
                         ConvertedFile& converted, const RunConverted& run_converted) {
  if (request.fp16 && !is_relaxed(converted)) refuse_half_precision(request);
  const HalfPrecision half_precision(request.fp16);
  const int count = request.samples.value_or(reference ? VerifyDefaults::kReferenceSamples : VerifyDefaults::kSamples);
  const ForwardArguments arguments = arguments_of(converted);
  const std::vector<Values> samples = samples_for(request, original, converted, arguments, count);
  std::optional<torch::jit::Module> meaning;
  if (!samples.empty()) {
    original.stated_floats =
        stated_floats_of(assemble(arguments, with_original_dtypes(samples[0], converted.metadata)));
  }
  if (!reference) meaning = float_meaning(original);
  OriginalErrors errors_of_original;
  std::vector<Accumulator> accumulators(converted.metadata.outputs.size());
  Distance original_distance, converted_distance;
  for (const Values& sample : samples) {
    tell_sign_of_life();
    const InputTuple for_original = assemble(arguments, with_original_dtypes(sample, converted.metadata));
    const Tensors expected = run_unconverted(meaning ? *meaning : original.module, for_original, "the original",
                                             hint_for(request, converted.metadata));
    if (meaning) errors_of_original.add(expected, run_if_possible(original.module, for_original));
    Tensors found = run_converted(sample);
    if (request.without_torch) found = with_numbers_of(expected, std::move(found));
    check_same_outputs(expected, found);
    check_same_dtypes(expected, found);
    if (accumulators.size() < expected.size()) accumulators.resize(expected.size());
    for (size_t i = 0; i < expected.size(); ++i) accumulators[i].add(expected[i], found[i]);
    if (!reference) continue;
    const Values floats = with_tensors(
        sample, [](size_t, const at::Tensor& tensor) { return tensor.is_quantized() ? tensor.dequantize() : tensor; });
    const Tensors truth = run_unconverted(reference->module, assemble(arguments, floats), "the float reference");
    check_same_outputs(truth, found);
    original_distance.add(expected, truth);
    converted_distance.add(found, truth);
  }
  Verification result;
  result.is_without_torch = request.without_torch;
  result.samples = static_cast<int>(samples.size());
  if (!request.inputs_file.empty()) result.fed = fed_ranges_of(samples, converted.metadata);
  result.is_quantized = converted.metadata.quant != "none" || rounds_to_levels(original);
  result.tolerance = request.tolerance.value_or(default_tolerance(request, converted, original));
  result.is_approximate = request.fp16 || is_approximate(converted);
  if (const auto calibration = recorded_calibration(converted)) {
    result.is_calibrated = true;
    result.calibrated_snr = calibration->snr_db;
  }
  const bool loses_channels = result.is_quantized && converted.runtime == Runtime::kPytorch;
  result.is_per_channel = loses_channels && has_per_channel_weights(original.module);
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const auto& outputs = converted.metadata.outputs;
    result.outputs.push_back(accumulators[i].result(i < outputs.size() ? outputs[i] : Quantization()));
  }
  if (reference) result.reference = ReferenceDistance{original_distance.rms(), converted_distance.rms()};
  result.is_of_meaning = meaning.has_value();
  result.original = errors_of_original.result();
  judge(result, request);
  if (samples.empty()) return result;
  const auto run_original = [&](const Values& sample) {
    return run_unconverted(meaning ? *meaning : original.module,
                           assemble(arguments, with_original_dtypes(sample, converted.metadata)), "the original");
  };
  check_at_borders(
      result, request, original, converted.metadata, samples[0],
      {run_original, run_converted, result.tolerance, false, is_approximate(converted), request.without_torch});
  return result;
}

// Makes the models that are compared take pixels where the file does, and give the parts of results that it gives.
void take_recorded_interface(const ConvertedFile& file, LoadedModel& original, std::optional<LoadedModel>& reference) {
  const std::vector<ResultSplit> splits = recorded_splits(file);
  split_results(original, splits);
  if (reference) split_results(*reference, splits);
  const auto pixels = recorded_pixels(file);
  if (!pixels) return;
  std::vector<InputSpec> none;
  take_pixels(original, *pixels, none);
  if (reference) take_pixels(*reference, *pixels, none);
}

// Runs the file on the host's NNAPI: its module, or, without PyTorch, what the shim reads of it. `variant` is the
// number of a package's model, from 1 on; 0: the file's own choice.
Verification verify_on_host(const VerifyRequest& request, LoadedModel& original, std::optional<LoadedModel>& reference,
                            ConvertedFile& converted, size_t variant = 0) {
  const ForwardArguments arguments = arguments_of(converted);
  if (request.without_torch) {
    const c10::FunctionSchema& schema = converted.module.get_method("forward").function().getSchema();
    ShimRunner runner(request.converted, converted.metadata, schema, static_cast<uint32_t>(variant));
    return verify_file(request, original, reference, converted,
                       [&](const Values& sample) { return runner.run(arguments, sample); });
  }
  if (variant > 0) use_variant(converted.module, variant);
  return verify_file(request, original, reference, converted, [&](const Values& sample) {
    return run(converted.module, assemble(arguments, sample), "the converted model");
  });
}

// Runs the file in LiteRT. The original's forward tells the arguments.
Verification verify_litert(const VerifyRequest& request) {
  if (request.fp16) throw ConvertError(ExitCode::kUsage, "--fp16: it is for NNAPI; LiteRT computes in float32 here");
  if (request.without_torch) throw ConvertError(ExitCode::kUsage, "--without-torch: it is for files of -o");
  LoadedModel original = load_method(request.original, request.method);
  LitertRunner runner(request.converted, request.method);
  ConvertedFile described;
  described.metadata = runner.metadata();
  described.runtime = Runtime::kShim;  // the weights keep their scales
  std::optional<LoadedModel> reference;
  if (!request.reference.empty()) reference = load_method(request.reference, request.method);
  take_recorded_interface(described, original, reference);
  described.module = original.module;
  return verify_file(request, original, reference, described,
                     [&runner](const Values& sample) { return runner.run(sample); });
}

// Each model of the package by itself: the shim has to take that one. Where data have quantised some, the inputs are
// such data, and float models get random ones. Half precision changes the models that leave it to drivers.
Verification verify_package(const VerifyRequest& request, LoadedModel& original, std::optional<LoadedModel>& reference,
                            ConvertedFile& first) {
  std::vector<VariantVerification> variants;
  std::vector<bool> is_calibrated;
  for (size_t i = 0; i < first.metadata.variants.size(); ++i) {
    ConvertedFile described;
    described.metadata.options = first.metadata.variants[i].options;
    is_calibrated.push_back(recorded_calibration(described).has_value());
  }
  const bool has_data = std::count(is_calibrated.begin(), is_calibrated.end(), true) > 0;
  bool is_any_half = false;
  for (size_t i = 0; i < first.metadata.variants.size(); ++i) {
    const std::string& name = first.metadata.variants[i].name;
    ConvertedFile converted = i == 0 ? first : read_converted_file(request.converted, request.method);
    if (!converted.has_module) converted.module = first.module;
    select_variant(converted, i);
    VerifyRequest own = request;
    if (has_data && !is_calibrated[i]) own.inputs_file.clear();
    own.fp16 = request.fp16 && is_relaxed(converted);
    is_any_half = is_any_half || own.fp16;
    try {
      variants.push_back({name, verify_on_host(own, original, reference, converted, i + 1)});
    } catch (const ConvertError& error) {
      throw ConvertError(error.exit_code(), fmt::format("model {} ({}): {}", i + 1, name, error.what()));
    }
  }
  if (request.fp16 && !is_any_half) refuse_half_precision(request);
  Verification result = variants[0].result;
  result.passed = std::all_of(variants.begin(), variants.end(),
                              [](const VariantVerification& variant) { return variant.result.passed; });
  result.variants = std::move(variants);
  return result;
}

}  // namespace

Verification verify(const VerifyRequest& request) {
  if (is_litert(request.converted)) return verify_litert(request);
  load_host_library();
  LoadedModel original = load_method(request.original, request.method);
  ConvertedFile converted = read_converted_file(request.converted, request.method);
  std::optional<LoadedModel> reference;
  if (!request.reference.empty()) reference = load_method(request.reference, request.method);
  tell_step("verify");
  VerifyRequest own = request;
  if (!converted.has_module) {
    own.without_torch = true;
    converted.module = original.module;  // tells forward's arguments
  }
  take_recorded_interface(converted, original, reference);
  return converted.variants.empty() ? verify_on_host(own, original, reference, converted)
                                    : verify_package(own, original, reference, converted);
}

}  // namespace nnapi_convert
