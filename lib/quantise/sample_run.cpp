// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/sample_run.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/torch_error.h"

namespace nnapi_convert {
namespace {

constexpr size_t kMostSizes = 4;

using Sample = std::vector<at::Tensor>;

// Returns a text such as "x [1, 3, 256, 341], mask [1, 256]".
std::string sizes_text(const ModuleInterface& interface, const Sample& sample) {
  std::string text;
  for (size_t i = 0; i < sample.size(); ++i) {
    text += fmt::format("{}{} [{}]", i == 0 ? "" : ", ", interface.inputs[i].name, fmt::join(sample[i].sizes(), ", "));
  }
  return text;
}

void check_runs(torch::jit::Module module, const InputTuple& inputs, const ModuleInterface& interface,
                const Sample& sample) {
  try {
    const c10::InferenceMode guard;
    module.forward(inputs);
  } catch (const std::exception& error) {
    throw ConvertError(
        ExitCode::kNotConvertible,
        fmt::format("--calibrate: the model itself can't run on a sample, {}: it is made for other sizes; "
                    "give every size with --input; PyTorch says: {}",
                    sizes_text(interface, sample), torch_reason(error)));
  }
}

}  // namespace

InputTuple arguments_for(const LoadedModel& loaded, const ModuleInterface& interface,
                         const std::vector<at::Tensor>& sample) {
  std::vector<std::string> names;
  for (const InterfaceInput& input : interface.inputs) names.push_back(input.name);
  const c10::FunctionSchema& forward = loaded.module.get_method("forward").function().getSchema();
  const ForwardArguments arguments = read_arguments(forward, names, nullptr, loaded.bound);
  const auto tensor = [&](size_t i) { return to_interface(sample.at(i), interface.inputs.at(i).original); };
  return assemble(arguments, sample_leaves(arguments, tensor, "tensors as arguments"));
}

void check_runs_on_samples(const LoadedModel& loaded, const ModuleInterface& interface,
                           const CalibrationSamples& samples) {
  const bool are_fixed = std::all_of(interface.inputs.begin(), interface.inputs.end(),
                                     [](const InterfaceInput& input) { return all_fixed(input.type.dims); });
  if (are_fixed) return;
  std::set<std::string> seen;
  for (const Sample& sample : samples) {
    if (seen.size() == kMostSizes) return;
    if (seen.insert(sizes_text(interface, sample)).second) {
      // A run may change state.
      check_runs(loaded.module.deepcopy(), arguments_for(loaded, interface, sample), interface, sample);
    }
  }
}

}  // namespace nnapi_convert
