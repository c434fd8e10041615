// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/half_range_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "lib/converter/graph/torch_error.h"
#include "lib/converter/plan/split.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/check_inputs.h"
#include "lib/quantise/half_range.h"
#include "lib/quantise/segment_samples.h"
#include "lib/quantise/trial_samples.h"
#include "lib/types/stages.h"

namespace nnapi_convert {
namespace {

constexpr size_t kSeededSamples = 4;
constexpr size_t kMostSamples = 32;
constexpr size_t kMostSplits = 4;  // each split finds more operations that have to keep float32

CalibrationSamples tensors_of(const std::vector<InputTuple>& tuples) {
  CalibrationSamples samples;
  for (const InputTuple& tuple : tuples) {
    samples.emplace_back();
    for (const c10::IValue& value : tuple) samples.back().push_back(value.toTensor());
  }
  return samples;
}

quantise::HalfRange fit_part(const NnapiPart& part, const std::vector<quantise::KeptSample>& samples) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
  return quantise::fit_half_range({part.model, arguments, nnapi::required_feature_level(part.model)}, samples);
}

bool all_fixed_sizes(const ModuleInterface& interface) {
  return std::all_of(interface.inputs.begin(), interface.inputs.end(),
                     [](const InterfaceInput& input) { return all_fixed(input.type.dims); });
}

bool is_any_relaxed(const Plan& plan) {
  return std::any_of(plan.segments.begin(), plan.segments.end(),
                     [](const PlannedSegment& segment) { return !segment.part.keeps_float32; });
}

class HalfRangeStep {
 public:
  HalfRangeStep(PlannedModel& planned, Frontend& frontend, const PlanOptions& options, bool may_split)
      : planned_(planned), frontend_(frontend), options_(options), may_split_(may_split) {}

  bool run(const CalibrationSamples& given, Diagnostics& diagnostics) {
    const bool is_relaxed = planned_.plan.is_whole() ? fit_whole(given) : fit_split(given);
    for (const std::string& note : notes_) diagnostics.warn("--relax-fp16" + note);
    return is_relaxed;
  }

 private:
  bool fit_whole(const CalibrationSamples& given) {
    NnapiPart& part = planned_.plan.segments[0].part;
    const std::vector<InputTuple> real =
        real_samples(frontend_.loaded(), given, part.interface.inputs.size(), kMostSamples);
    const TrialSamples samples =
        trial_samples(part, ranges_of_arguments(frontend_, part.interface), real, kSeededSamples);
    quantise::HalfRange fitted = fit_part(part, samples.physical);
    const bool is_divisible = may_split_ && all_fixed_sizes(planned_.interface);
    if (!fitted.beyond.empty() && is_divisible && split_whole(fitted, samples.callers)) return true;
    for (const std::string& each : fitted.rescaled) notes_.push_back(": " + each);
    for (const std::string& each : fitted.beyond) {
      notes_.push_back(" is left out, the model stays float32: " + each);
    }
    part.model = std::move(fitted.model);
    return fitted.beyond.empty();
  }

  // Splits a whole model. False, with the plan as it was, if it can't be split, if a part would stay on the CPU, or if
  // all would keep float32.
  bool split_whole(const quantise::HalfRange& whole, const CalibrationSamples& samples) {
    try {
      return try_split(whole, samples);
    } catch (const std::exception& error) {
      notes_.push_back(": the model is not split into segments: " + torch_reason(error));
      return false;
    }
  }

  bool try_split(const quantise::HalfRange& whole, const CalibrationSamples& samples) {
    PlanOptions options = options_;
    options.on_stage = nullptr;
    options.on_dump = nullptr;
    options.segments = {};
    options.segments.min_macs = 0;
    Float32Values values = whole.values;
    for (size_t round = 0; round < kMostSplits; ++round) {
      Diagnostics quiet;
      Stages untold(options);
      const SegmentRefusal why{"--relax-fp16: values leave float16's range in a part of the model"};
      PlannedModel parts = split(frontend_, options, why, quiet, untold, values);
      if (!parts.plan.cpu_nodes.empty()) return false;
      std::vector<std::string> notes;
      const Float32Values more = fit_segments(parts, samples, notes);
      const size_t before = values.size();
      values.insert(more.begin(), more.end());
      if (values.size() > before && round + 1 < kMostSplits) continue;
      if (!is_any_relaxed(parts.plan)) return false;
      for (const std::string& each : whole.beyond) notes_.push_back(" keeps float32 in a segment of its own: " + each);
      notes_.insert(notes_.end(), notes.begin(), notes.end());
      planned_ = std::move(parts);
      return true;
    }
    return false;
  }

  bool fit_split(const CalibrationSamples& given) {
    const CalibrationSamples samples =
        tensors_of(real_samples(frontend_.loaded(), given, planned_.interface.inputs.size(), kMostSamples));
    const bool keeps_state = !planned_.model.graph->inputs()[0]->uses().empty();
    if (samples.empty() || keeps_state) {
      throw NoSample(keeps_state ? "the model keeps state and runs in parts"
                                 : "the model runs in parts; give data by --calibrate or bundled inputs");
    }
    fit_segments(planned_, samples, notes_);
    return is_any_relaxed(planned_.plan);
  }

  // Fits each segment that may compute in half precision. One in which values leave the range still keeps float32.
  // Returns the names of the results of all operations that write or read such values.
  Float32Values fit_segments(PlannedModel& planned, const CalibrationSamples& samples,
                             std::vector<std::string>& notes) const {
    std::vector<SegmentSamples> read(planned.plan.segments.size());
    SegmentRuns runs(planned, frontend_);
    for (const std::vector<at::Tensor>& sample : samples) runs.add(sample, read);
    Float32Values values;
    for (size_t i = 0; i < read.size(); ++i) {
      NnapiPart& part = planned.plan.segments[i].part;
      if (part.keeps_float32) continue;
      if (read[i].calls.empty()) {
        notes.push_back(fmt::format(": segment {} was not checked: no sample runs it", i));
        continue;
      }
      quantise::HalfRange fitted = fit_part(part, read[i].calls);
      for (const std::string& each : fitted.rescaled) notes.push_back(fmt::format(": segment {}: {}", i, each));
      for (const std::string& each : fitted.beyond) {
        notes.push_back(fmt::format(": segment {} keeps float32: {}", i, each));
      }
      values.insert(fitted.values.begin(), fitted.values.end());
      part.keeps_float32 = !fitted.beyond.empty();
      part.model = std::move(fitted.model);
    }
    return values;
  }

  PlannedModel& planned_;
  Frontend& frontend_;
  const PlanOptions& options_;
  const bool may_split_;
  std::vector<std::string> notes_;
};

}  // namespace

bool fit_into_half_range(PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                         const CalibrationSamples& samples, bool may_split, Diagnostics& diagnostics) {
  if (!options.relax_fp16) return false;
  const char* unchecked = "--relax-fp16: it was not checked whether values leave float16's range";
  try {
    return HalfRangeStep(planned, frontend, options, may_split).run(samples, diagnostics);
  } catch (const NoSample& error) {
    diagnostics.warn(fmt::format("{}: {}", unchecked, error.what()));
  } catch (const std::exception& error) {
    diagnostics.warn(fmt::format("{}: {}", unchecked, torch_reason(error)));
  }
  return true;
}

}  // namespace nnapi_convert
