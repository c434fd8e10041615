// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/segment_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/plan/split.h"
#include "lib/converter/samples/row_chunks.h"
#include "lib/quantise/physical_sample.h"

namespace nnapi_convert {
namespace {

constexpr uint64_t kMostBytes = uint64_t{512} << 20;  // the most for one segment's inputs

std::vector<std::string> names_of(const std::vector<torch::jit::Value*>& values) {
  std::vector<std::string> names;
  for (const torch::jit::Value* value : values) names.push_back(value->debugName());
  return names;
}

ReferenceRequest request_of(const PlanStep& step, const Segment& segment) {
  ReferenceRequest request;
  for (const torch::jit::Node* node : step.nodes) {
    for (const torch::jit::Value* output : node->outputs()) request.made.push_back(output->debugName());
  }
  request.read = names_of(segment.inputs);
  return request;
}

Reference reference_of(const PlannedModel& planned, Frontend& frontend) {
  const std::vector<const ArgumentTree*> all = leaves(planned.model.arguments);
  if (!std::all_of(all.begin(), all.end(), [](const ArgumentTree* leaf) { return leaf->is_tensor(); })) {
    throw ConvertError(ExitCode::kNotConvertible,
                       "--calibrate: forward takes arguments that are no tensors, and parts of the model stay on the "
                       "CPU; bind them with --input NAME=VALUE");
  }
  std::vector<ReferenceRequest> requests(planned.plan.segments.size());
  for (const PlanStep* step : segment_steps(planned.plan)) {
    const auto number = static_cast<size_t>(step->segment);
    requests[number] = request_of(*step, planned.plan.segments[number].segment);
  }
  return {frontend.reference(planned.kept), requests};
}

}  // namespace

SegmentRuns::SegmentRuns(const PlannedModel& planned, Frontend& frontend)
    : planned_(planned), reference_(reference_of(planned, frontend)), bytes_(planned.plan.segments.size(), 0) {}

void SegmentRuns::add(const std::vector<at::Tensor>& sample, std::vector<SegmentSamples>& segments) {
  std::vector<std::vector<ReferenceValues>> runs;
  try {
    runs = reference_.run(sample);
  } catch (const c10::Error& error) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("--calibrate: PyTorch can't run the model on a sample: {}", torch_reason(error)));
  }
  for (size_t segment = 0; segment < runs.size(); ++segment) {
    for (const ReferenceValues& values : runs[segment]) add_run(segment, values, segments[segment]);
  }
}

void SegmentRuns::add_run(size_t segment, const ReferenceValues& values, SegmentSamples& samples) {
  const PlannedSegment& planned = planned_.plan.segments[segment];
  std::vector<at::Tensor> inputs;
  for (const std::string& name : names_of(planned.segment.inputs)) {
    const auto found = values.find(name);
    if (found == values.end()) {
      ++samples.unknown;
      return;
    }
    inputs.push_back(found->second);
  }
  if (!planned.segment.rows) return add_call(segment, inputs, samples);
  const auto calls = in_calls(planned.part.model, inputs, values, planned.segment.rows->per_call);
  if (!calls) ++samples.unknown;
  for (const CallValues& call : calls.value_or(std::vector<CallValues>())) add_call(segment, call.given, samples);
}

void SegmentRuns::add_call(size_t segment, const std::vector<at::Tensor>& inputs, SegmentSamples& samples) {
  quantise::KeptSample sample(physical_sample(planned_.plan.segments[segment].part.model, inputs));
  const uint64_t bytes = sample.kept_bytes();
  if (bytes_[segment] + bytes > kMostBytes && !samples.calls.empty()) {
    ++samples.left_out;
    return;
  }
  bytes_[segment] += bytes;
  samples.calls.push_back(std::move(sample));
}

}  // namespace nnapi_convert
