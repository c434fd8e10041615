#include "lib/converter/quantise/half_range_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>

#include "lib/converter/emit/check_inputs.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/half_range.h"

namespace nnapi_convert {
namespace {

constexpr uint32_t kSeededSamples = 4;
constexpr size_t kMostSamples = 32;

std::vector<InputTuple> real_samples(const LoadedModel& loaded, const CalibrationSamples& given, size_t inputs) {
  std::vector<InputTuple> real;
  for (const std::vector<at::Tensor>& sample : given) real.emplace_back(sample.begin(), sample.end());
  if (real.empty()) real = loaded.bundled_inputs;
  const auto is_other = [&](const InputTuple& sample) {
    return sample.size() != inputs ||
           !std::all_of(sample.begin(), sample.end(), [](const c10::IValue& value) { return value.isTensor(); });
  };
  real.erase(std::remove_if(real.begin(), real.end(), is_other), real.end());
  if (real.size() > kMostSamples) real.resize(kMostSamples);
  return real;
}

std::vector<quantise::KeptSample> make_samples(const NnapiPart& part, const LoadedModel& loaded,
                                               const CalibrationSamples& given) {
  std::vector<std::string> names;
  std::vector<TensorType> types;
  for (const InterfaceInput& input : part.interface.inputs) {
    names.push_back(input.name);
    types.push_back(input.original);
    types.back().dims = input.type.dims;
  }
  const IndexRanges ranges = index_ranges(loaded, names, types);
  const std::vector<InputTuple> real = real_samples(loaded, given, names.size());
  const auto count = real.empty() ? kSeededSamples : static_cast<uint32_t>(real.size());
  std::vector<quantise::KeptSample> samples;
  for (uint32_t number = 0; number < count; ++number) {
    CheckInputs inputs(part, ranges, false);
    inputs.make(number, real.empty() ? nullptr : &real[number], std::numeric_limits<size_t>::max());
    quantise::Sample sample;
    for (const at::Tensor& caller : inputs.callers()) sample.shapes.push_back(caller.sizes().vec());
    sample.inputs = inputs.physical();
    samples.emplace_back(sample);
  }
  return samples;
}

}  // namespace

bool fit_into_half_range(PlannedModel& planned, const LoadedModel& loaded, const ConvertOptions& options,
                         const CalibrationSamples& samples, Diagnostics& diagnostics) {
  if (!options.relax_fp16) return false;
  const char* unchecked = "--relax-fp16: it was not checked whether values leave float16's range";
  if (!planned.plan.is_whole()) {
    diagnostics.warn(fmt::format("{}: the model runs in parts", unchecked));
    return true;
  }
  NnapiPart& part = planned.plan.segments[0].part;
  try {
    std::vector<Dims> arguments;
    for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
    quantise::HalfRange fitted = quantise::fit_half_range(
        {part.model, arguments, nnapi::required_feature_level(part.model)}, make_samples(part, loaded, samples));
    for (const std::string& each : fitted.rescaled) diagnostics.warn("--relax-fp16: " + each);
    for (const std::string& each : fitted.beyond) {
      diagnostics.warn(fmt::format("--relax-fp16 is left out, the model stays float32: {}", each));
    }
    part.model = std::move(fitted.model);
    return fitted.beyond.empty();
  } catch (const NoSample& error) {
    diagnostics.warn(fmt::format("{}: {}", unchecked, error.what()));
  } catch (const std::exception& error) {
    diagnostics.warn(fmt::format("{}: {}", unchecked, torch_reason(error)));
  }
  return true;
}

}  // namespace nnapi_convert
