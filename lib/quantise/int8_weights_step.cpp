// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/int8_weights_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "lib/converter/graph/torch_error.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/check_inputs.h"
#include "lib/quantise/int8_choice.h"
#include "lib/quantise/segment_samples.h"
#include "lib/quantise/trial_samples.h"

namespace nnapi_convert {
namespace {

constexpr size_t kInt8Samples = 4;
// The most work of a trial, which runs a model on all samples; larger models run on fewer.
constexpr int64_t kMacsOfTrial = 8'000'000'000;
constexpr size_t kFewestInt8Samples = 2;

size_t int8_sample_count(const PlannedSegment& segment) {
  const int64_t fitting = kMacsOfTrial / std::max<int64_t>(segment.macs, 1);
  return static_cast<size_t>(std::clamp<int64_t>(fitting, kFewestInt8Samples, kInt8Samples));
}

// The samples on which the segments of a plan are tried.
class Int8Samples {
 public:
  Int8Samples(const PlannedModel& planned, Frontend& frontend, const CalibrationSamples& given)
      : planned_(planned), frontend_(frontend) {
    real_ = real_samples(frontend.loaded(), given, planned.interface.inputs.size(), kInt8Samples);
    const bool keeps_state = !planned.plan.is_whole() && !planned.model.graph->inputs()[0]->uses().empty();
    if (planned.plan.is_whole() || real_.empty() || keeps_state) return;
    read_.resize(planned.plan.segments.size());
    SegmentRuns runs(planned, frontend);
    for (const InputTuple& sample : real_) {
      std::vector<at::Tensor> tensors;
      for (const c10::IValue& value : sample) tensors.push_back(value.toTensor());
      runs.add(tensors, read_);
    }
  }

  // Returns the samples of a segment. Throws NoSample.
  TrialSamples of_segment(size_t number) {
    const PlannedSegment& segment = planned_.plan.segments[number];
    if (planned_.plan.is_whole()) {
      return trial_samples(segment.part, ranges_of_arguments(frontend_, segment.part.interface), real_,
                           int8_sample_count(segment));
    }
    if (!read_.empty() && !read_[number].calls.empty()) {
      std::vector<quantise::KeptSample>& calls = read_[number].calls;
      const size_t count = std::min(calls.size(), kInt8Samples);
      return {{}, {calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count)}, true};
    }
    return trial_samples(segment.part, ranges_of_segment(segment.segment), {}, int8_sample_count(segment));
  }

 private:
  const PlannedModel& planned_;
  Frontend& frontend_;
  std::vector<InputTuple> real_;
  std::vector<SegmentSamples> read_;  // by segment; empty: no segment was run
};

quantise::Int8Choice choose_for(NnapiPart& part, const std::vector<Int8Candidate>& candidates,
                                const std::vector<quantise::KeptSample>& samples) {
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
  return quantise::choose_int8(part.model, candidates, arguments, nnapi::required_feature_level(part.model), samples);
}

}  // namespace

StoredWeights store_weights_as_int8(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                                    const CalibrationSamples& given, Diagnostics& diagnostics) {
  StoredWeights stored;
  stored.keeps_float16 = options.fp16_weights;
  Int8Samples samples(planned, frontend, given);
  for (size_t number = 0; number < planned.plan.segments.size(); ++number) {
    NnapiPart& part = planned.plan.segments[number].part;
    const std::vector<Int8Candidate> candidates = int8_candidates(part.model);
    if (candidates.empty()) continue;
    quantise::Int8Choice choice{std::vector<bool>(candidates.size(), true)};
    std::string reason;
    try {
      const TrialSamples trial = samples.of_segment(number);
      choice = choose_for(part, candidates, trial.physical);
      stored.samples = std::max(stored.samples, trial.physical.size());
      stored.has_given_samples = trial.are_real;
    } catch (const NoSample& error) {
      reason = error.what();
    } catch (const std::exception& error) {
      reason = torch_reason(error);
    }
    if (!reason.empty()) {
      for (const Int8Candidate& each : candidates) store_as_int8(each);
      diagnostics.warn(
          fmt::format("--int8-weights: all weights{} are stored as int8, and it was not checked how exact "
                      "that is: {}",
                      planned.plan.is_whole() ? "" : fmt::format(" of segment {}", number), reason));
    }
    stored.error = std::max(stored.error, choice.error);
    for (size_t i = 0; i < candidates.size(); ++i) {
      stored.weights.push_back({candidates[i].name, candidates[i].element_count(), choice.is_int8[i]});
    }
  }
  if (stored.weights.empty()) {
    diagnostics.warn("--int8-weights: no weight of NNAPI's part is float32 and large enough");
  }
  return stored;
}

}  // namespace nnapi_convert
