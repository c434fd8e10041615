// SPDX-License-Identifier: BSD-3-Clause
// Computes the inputs of each segment of a partitioned model: TorchScript runs the model on samples.
#pragma once

#include <vector>

#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/converter/samples/reference_values.h"
#include "lib/quantise/kept_sample.h"

namespace nnapi_convert {

// The inputs of one segment. A segment in a loop runs several times for each sample, one of rows in several calls.
struct SegmentSamples {
  std::vector<quantise::KeptSample> calls;
  size_t left_out = 0;  // calls that didn't fit into memory
  size_t unknown = 0;   // runs for which TorchScript has no value of an input
};

class SegmentRuns {
 public:
  // Keeps a reference to `planned`. Throws ConvertError (kNotConvertible) for a forward that takes arguments other than
  // tensors.
  SegmentRuns(const PlannedModel& planned, Frontend& frontend);

  // Runs the model and adds the calls of each segment to `segments`. Throws ConvertError (kNotConvertible) if the model
  // fails.
  void add(const std::vector<at::Tensor>& sample, std::vector<SegmentSamples>& segments);

 private:
  void add_run(size_t segment, const ReferenceValues& values, SegmentSamples& samples);
  void add_call(size_t segment, const std::vector<at::Tensor>& inputs, SegmentSamples& samples);

  const PlannedModel& planned_;
  Reference reference_;
  std::vector<uint64_t> bytes_;  // by segment: the bytes of all its samples
};

}  // namespace nnapi_convert
