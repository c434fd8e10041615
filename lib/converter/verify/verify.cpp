// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/verify.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/base/watched_run.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/frontend/pixel_input.h"
#include "lib/converter/frontend/split_results.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/load.h"
#include "lib/converter/load/packed_weights.h"
#include "lib/converter/verify/border_check.h"
#include "lib/converter/verify/compared_sample.h"
#include "lib/converter/verify/comparison.h"
#include "lib/converter/verify/litert_runner.h"
#include "lib/converter/verify/own_rounding.h"
#include "lib/converter/verify/right_products.h"
#include "lib/converter/verify/run_models.h"
#include "lib/converter/verify/shim_runner.h"
#include "lib/converter/verify/tolerance.h"
#include "lib/converter/verify/verdict.h"
#include "lib/converter/verify/verify_inputs.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

// Checks the borders of dtypes, but not in half precision: numbers at the borders of float32 are beyond float16's.
void check_at_borders(Verification& result, const VerifyRequest& request, const LoadedModel& original,
                      const SampleMaker& maker, const Values& ordinary, BorderRuns runs) {
  if (result.is_quantized || result.reference || !request.inputs_file.empty() || request.fp16) return;
  BorderLimits limits = limits_of(original.module);
  limits.takes_indices = maker.takes_indices();
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

// Returns the ranges of float inputs in the order of the inputs.
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

// Runs a model that keeps state on a copy, so that each comparison begins with the state of the file.
class OwnState {
 public:
  explicit OwnState(const torch::jit::Module& module)
      : keeps_state_(!attributes_changed_by(module, "forward").empty()),
        module_(keeps_state_ ? deep_copy(module) : module) {}

  bool keeps_state() const { return keeps_state_; }
  torch::jit::Module& module() { return module_; }

 private:
  bool keeps_state_;
  torch::jit::Module module_;
};

// True if the original's results on all samples are finite numbers.
bool are_results_finite(const torch::jit::Module& original, const std::vector<Values>& samples,
                        const ForwardArguments& arguments, const Metadata& metadata) {
  OwnState own(original);
  return std::all_of(samples.begin(), samples.end(), [&](const Values& sample) {
    tell_sign_of_life();
    const auto results = run_if_possible(own.module(), assemble(arguments, with_original_dtypes(sample, metadata)));
    return results && are_finite(*results);
  });
}

// Returns the samples to compare on. Where the original gives infinite numbers or fails for made-up integers, or for
// masks that hide and words that end in padding, makes up others: flags, or positive integers, as models with masks or
// lengths take them.
std::vector<Values> samples_for(const SampleMaker& maker, const LoadedModel& original,
                                const ForwardArguments& arguments, const Metadata& metadata, int count) {
  if (maker.has_open_sizes()) {
    MadeUp various;
    various.has_various_sizes = true;
    std::vector<Values> samples = maker.samples(count, various);
    if (are_results_finite(original.module, samples, arguments, metadata)) return samples;
  }
  std::vector<Values> samples = maker.samples(count, {});
  const bool is_asked = maker.is_made_up() && (maker.has_integers() || maker.has_masks()) && !samples.empty();
  if (!is_asked || are_results_finite(original.module, samples, arguments, metadata)) return samples;
  for (const bool has_masks : {true, false}) {
    if (has_masks && !maker.has_masks()) continue;
    for (const MadeIntegers integers : {MadeIntegers::kDigits, MadeIntegers::kFlags, MadeIntegers::kPositive}) {
      const bool is_first = integers == MadeIntegers::kDigits && has_masks == maker.has_masks();
      if (is_first || (integers != MadeIntegers::kDigits && !maker.has_integers())) continue;
      std::vector<Values> others = maker.samples(count, {integers, has_masks, false});
      if (are_results_finite(original.module, others, arguments, metadata)) return others;
    }
  }
  return samples;
}

// Returns how near scores and rows of a model that puts numbers in order have to be; nothing for other models.
std::optional<TieRule> tie_rule(const LoadedModel& original, const Verification& result) {
  const BorderLimits limits = limits_of(original.module);
  if (!limits.orders) return std::nullopt;
  const double noise = std::pow(10, -VerifyDefaults::kQuantizedSnr / 20);  // share of the signal at that SNR
  if (result.is_quantized) return TieRule{noise, true, 2 * noise, limits.keeps_boxes};
  return TieRule{result.tolerance, false, VerifyDefaults::kPartnersTolerance * result.tolerance, limits.keeps_boxes};
}

// Measures how far float32 itself is from float64 for a float model that failed by its rounding; passes a file that is
// no farther from it.
void ask_in_double(Verification& result, const VerifyRequest& request, const LoadedModel& original,
                   const KeptResults& kept) {
  const bool is_by_rounding = !result.passed && !result.is_quantized && !result.is_of_meaning && !result.reference &&
                              !result.is_approximate && !request.fp16;
  if (!is_by_rounding) return;
  result.rounding = own_rounding(original, kept);
  if (!result.rounding || !result.rounding->is_explained || request.tolerance) return;
  result.passed = true;
  result.criterion += fmt::format(", or of the results in float64 at most {:g} times as far as the original's own",
                                  VerifyDefaults::kMostRoundings);
}

Verification verify_file(const VerifyRequest& request, LoadedModel& original, std::optional<LoadedModel>& reference,
                         ConvertedFile& converted, const RunConverted& run_converted) {
  if (request.fp16 && !is_relaxed(converted)) refuse_half_precision(request);
  const HalfPrecision half_precision(request.fp16);
  const int count = request.samples.value_or(reference ? VerifyDefaults::kReferenceSamples : VerifyDefaults::kSamples);
  const ForwardArguments arguments = arguments_of(converted);
  const Metadata& metadata = converted.metadata;
  const SampleMaker maker(request, original, converted, arguments);
  std::vector<Values> samples = samples_for(maker, original, arguments, metadata, count);
  std::optional<torch::jit::Module> meaning;
  if (!samples.empty()) {
    original.stated_floats = stated_floats_of(assemble(arguments, with_original_dtypes(samples[0], metadata)));
  }
  if (!reference) meaning = float_meaning(original);
  Verification result;
  result.is_without_torch = request.without_torch;
  result.inputs_option = inputs_option(request);
  result.is_quantized = metadata.quant != "none" || rounds_to_levels(original);
  result.tolerance = request.tolerance.value_or(default_tolerance(request, converted, original));
  result.is_approximate = request.fp16 || is_approximate(converted);
  if (const auto calibration = recorded_calibration(converted)) {
    result.is_calibrated = true;
    result.calibrated_snr = calibration->snr_db;
    result.is_within_ranges = maker.is_made_up() && !calibration->fed.empty();
  }
  OwnState own(original.module);
  const ComparedModels models{request,
                              converted,
                              arguments,
                              own.module(),
                              meaning ? &*meaning : nullptr,
                              reference ? &reference->module : nullptr,
                              run_converted,
                              tie_rule(original, result)};
  const bool may_have_wrong_kernels = result.is_quantized && !meaning && !samples.empty() && !own.keeps_state();
  std::optional<ConvertError> failure;
  Comparison compared;
  try {
    compared = compare_models(models, samples);
  } catch (const ConvertError& error) {
    if (!may_have_wrong_kernels || error.exit_code() != ExitCode::kVerificationFailed) throw;
    failure = error;  // the original finds no box, for example
  }
  if (!compared.is_finite && maker.is_made_up() && maker.has_floats() && !own.keeps_state()) {
    std::vector<Values> others = maker.samples(count, {MadeIntegers::kDigits, true, true});
    if (are_results_finite(meaning ? *meaning : original.module, others, arguments, metadata)) {
      samples = std::move(others);
      compared = compare_models(models, samples);
      result.are_floats_shares = true;
    }
  }
  result.samples = static_cast<int>(samples.size());
  if (!maker.is_made_up()) result.fed = fed_ranges_of(samples, metadata);
  const bool loses_channels = result.is_quantized && converted.runtime == Runtime::kPytorch;
  result.is_per_channel = loses_channels && has_per_channel_weights(original.module);
  result.is_of_meaning = meaning.has_value();
  if (!failure) {
    take(result, compared, metadata);
    judge(result, request);
  }
  if (!result.passed && may_have_wrong_kernels) try_right_products(result, original, models, samples);
  if (failure && result.outputs.empty()) throw *failure;
  ask_in_double(result, request, original, compared.kept);
  if (samples.empty() || own.keeps_state()) return result;
  const auto run_original = [&](const Values& sample) {
    return run_unconverted(meaning ? *meaning : original.module,
                           assemble(arguments, with_original_dtypes(sample, metadata)), "the original");
  };
  check_at_borders(
      result, request, original, maker, samples[0],
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
    return run_module(converted.module, assemble(arguments, sample), "the converted model");
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
  described.runtime = Runtime::kShim;  // as for the shim, weights keep their scales for each channel
  std::optional<LoadedModel> reference;
  if (!request.reference.empty()) reference = load_method(request.reference, request.method);
  take_recorded_interface(described, original, reference);
  described.module = original.module;
  return verify_file(request, original, reference, described,
                     [&runner](const Values& sample) { return runner.run(sample); });
}

// Verifies each model of the package by itself: the shim has to take that one. Where data have quantised some, the
// inputs are such data, and float models get random ones. Half precision changes the models that leave it to drivers.
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
    if (request.on_sample) {
      own.on_sample = [&request, i](ComparedSample sample) {
        sample.place = fmt::format("model {}/{}", i + 1, sample.place);
        request.on_sample(sample);
      };
    }
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
