// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/trial_samples.h"

#include <algorithm>
#include <limits>
#include <string>

#include "lib/ops/value_range.h"
#include "lib/quantise/check_inputs.h"

namespace nnapi_convert {

std::vector<InputTuple> real_samples(const LoadedModel& loaded, const CalibrationSamples& given, size_t inputs,
                                     size_t most) {
  std::vector<InputTuple> real;
  for (const std::vector<at::Tensor>& sample : given) real.emplace_back(sample.begin(), sample.end());
  if (real.empty()) real = loaded.bundled_inputs;
  const auto is_other = [&](const InputTuple& sample) {
    return sample.size() != inputs ||
           !std::all_of(sample.begin(), sample.end(), [](const c10::IValue& value) { return value.isTensor(); });
  };
  real.erase(std::remove_if(real.begin(), real.end(), is_other), real.end());
  if (real.size() > most) real.resize(most);
  return real;
}

TrialSamples trial_samples(const NnapiPart& part, const IndexRanges& ranges, const std::vector<InputTuple>& real,
                           size_t count) {
  TrialSamples samples;
  samples.are_real = !real.empty();
  for (size_t number = 0; number < (real.empty() ? count : real.size()); ++number) {
    CheckInputs inputs(part, ranges, {});
    inputs.make(static_cast<uint32_t>(number), real.empty() ? nullptr : &real[number],
                std::numeric_limits<size_t>::max());
    quantise::Sample sample;
    for (const at::Tensor& caller : inputs.callers()) sample.shapes.push_back(caller.sizes().vec());
    sample.inputs = inputs.physical();
    samples.physical.emplace_back(sample);
    samples.callers.push_back(inputs.callers());
  }
  return samples;
}

IndexRanges ranges_of_arguments(Frontend& frontend, const ModuleInterface& interface) {
  std::vector<std::string> names;
  std::vector<TensorType> types;
  for (const InterfaceInput& input : interface.inputs) {
    names.push_back(input.name);
    types.push_back(input.original);
    types.back().dims = input.type.dims;
  }
  return frontend.index_ranges(names, types);
}

IndexRanges ranges_of_segment(const Segment& segment) {
  IndexRanges ranges;
  for (const torch::jit::Value* input : segment.model.inputs) {
    const auto range = integer_range(*input, {});
    ranges.emplace_back();
    if (!range || !range->is_int32()) continue;
    ranges.back().emplace();
    ranges.back()->lowest = static_cast<int64_t>(range->least);
    ranges.back()->highest = static_cast<int64_t>(range->greatest);
  }
  return ranges;
}

}  // namespace nnapi_convert
