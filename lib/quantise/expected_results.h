// SPDX-License-Identifier: BSD-3-Clause
// The original's results for samples, with which the results of a quantised model are compared.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/forward_results.h"

namespace nnapi_convert {

struct ExpectedResults {
  std::vector<InputTuple> inputs;                // arguments of forward
  std::vector<std::vector<at::Tensor>> results;  // by sample: the float tensors that forward returns
  std::vector<ForwardResult> named = {};         // by sample: all tensors
};

// Runs the original. Throws ConvertError (kNotConvertible) if it fails.
ExpectedResults expected_results(const LoadedModel& loaded, const PlannedModel& planned,
                                 const CalibrationSamples& samples);

// Returns a model whose outputs are float tensors like these.
nnapi::Model model_of_results(const std::vector<at::Tensor>& results);

// Returns the float tensors of forward's result, in their order, contiguous and as float32.
std::vector<at::Tensor> float_results(const c10::IValue& value);

}  // namespace nnapi_convert
