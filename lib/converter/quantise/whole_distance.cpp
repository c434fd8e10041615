#include "lib/converter/quantise/whole_distance.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/host_library.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/normalise/arguments.h"
#include "lib/quantise/slices.h"

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

std::vector<at::Tensor> results_of(torch::jit::Module& module, const InputTuple& inputs) {
  const c10::InferenceMode guard;
  std::vector<at::Tensor> tensors;
  add_floats(module.forward(inputs), tensors);
  return tensors;
}

bool same_sizes(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].sizes() != b[i].sizes()) return false;
  }
  return true;
}

std::vector<quantise::Bytes> bytes_of(const std::vector<at::Tensor>& tensors) {
  std::vector<quantise::Bytes> result;
  for (const at::Tensor& tensor : tensors) {
    quantise::Bytes& bytes = result.emplace_back(tensor.nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.data_ptr(), bytes.size());
  }
  return result;
}

// A model whose outputs are float tensors like these.
nnapi::Model model_of(const std::vector<at::Tensor>& tensors) {
  nnapi::Model model;
  for (const at::Tensor& tensor : tensors) {
    nnapi::Operand operand;
    for (const int64_t size : tensor.sizes()) operand.dims.emplace_back(size);
    model.outputs.push_back({model.add(std::move(operand))});
  }
  return model;
}

// The module as a phone would load it.
torch::jit::Module loaded_again(const Conversion& conversion) {
  const PendingFile file(std::filesystem::temp_directory_path() / "calibrated.pt");
  write_conversion(conversion, file.path().string());
  return torch::jit::load(file.path().string());
}

}  // namespace

ExpectedResults expected_results(const LoadedModel& loaded, const PlannedModel& planned,
                                 const CalibrationSamples& samples) {
  ExpectedResults expected;
  const bool keeps_state = !planned.model.graph->inputs()[0]->uses().empty();
  torch::jit::Module module = keeps_state ? deep_copy(loaded.module) : loaded.module;
  for (const std::vector<at::Tensor>& sample : samples) {
    expected.inputs.push_back(assemble(planned.model.arguments, {sample.begin(), sample.end()}));
    try {
      expected.results.push_back(results_of(module, expected.inputs.back()));
    } catch (const std::exception& error) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("--calibrate: PyTorch can't run the model on a sample: {}", torch_reason(error)));
    }
  }
  return expected;
}

WholeDistance whole_distance(const Conversion& conversion, const ExpectedResults& expected) {
  load_host_library();
  torch::jit::Module module = loaded_again(conversion);
  quantise::Results floats, found;
  for (size_t i = 0; i < expected.inputs.size(); ++i) {
    std::vector<at::Tensor> results;
    try {
      results = results_of(module, expected.inputs[i]);
    } catch (const std::exception& error) {
      throw ConvertError(
          ExitCode::kVerificationFailed,
          fmt::format("calibration: the quantised model doesn't run on the host's NNAPI: {}", torch_reason(error)));
    }
    if (!same_sizes(results, expected.results[i]) || !same_sizes(results, expected.results[0])) return {};
    floats.push_back(bytes_of(expected.results[i]));
    found.push_back(bytes_of(results));
  }
  if (found.empty() || found[0].empty()) return {};
  const nnapi::Model model = model_of(expected.results[0]);
  return {quantise::distance(model, floats, found),
          quantise::warnings_of_slices({model, floats, found}, [](const quantise::Cut&) -> std::string {
            return "--min-snr leaves the operations float that cost most, and --keep-float those that it names";
          })};
}

}  // namespace nnapi_convert
