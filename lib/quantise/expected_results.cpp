// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/expected_results.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/quantise/sample_run.h"

namespace nnapi_convert {
namespace {

void add_floats(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().is_floating_point()) tensors.push_back(value.toTensor().to(at::kFloat).contiguous());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) add_floats(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) add_floats(entry.value(), tensors);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) add_floats(element, tensors);
  }
}

}  // namespace

std::vector<at::Tensor> float_results(const c10::IValue& value) {
  std::vector<at::Tensor> tensors;
  add_floats(value, tensors);
  return tensors;
}

nnapi::Model model_of_results(const std::vector<at::Tensor>& results) {
  nnapi::Model model;
  for (const at::Tensor& tensor : results) {
    nnapi::Operand operand;
    for (const int64_t size : tensor.sizes()) operand.dims.emplace_back(size);
    model.outputs.push_back({model.add(std::move(operand))});
  }
  return model;
}

ExpectedResults expected_results(const LoadedModel& loaded, const PlannedModel& planned,
                                 const CalibrationSamples& samples) {
  ExpectedResults expected;
  const bool is_whole = planned.plan.is_whole();
  const bool keeps_state = !is_whole && !planned.model.graph->inputs()[0]->uses().empty();
  const c10::InferenceMode guard;
  torch::jit::Module module = keeps_state ? deep_copy(loaded.module) : loaded.module;
  for (const std::vector<at::Tensor>& sample : samples) {
    expected.inputs.push_back(is_whole ? arguments_for(loaded, planned.interface, sample)
                                       : assemble(planned.model.arguments, {sample.begin(), sample.end()}));
    try {
      const c10::IValue value = module.forward(expected.inputs.back());
      expected.results.push_back(float_results(value));
      expected.named.push_back(named_results(value));
    } catch (const std::exception& error) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("--calibrate: PyTorch can't run the model on a sample: {}", torch_reason(error)));
    }
  }
  return expected;
}

}  // namespace nnapi_convert
