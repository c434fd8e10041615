#include "lib/converter/samples/original_run.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <optional>

#include "lib/converter/graph/torch_error.h"
#include "lib/converter/infer/trial_run.h"
#include "lib/converter/samples/argument_samples.h"

namespace nnapi_convert {
namespace {

enum class Values { kSame, kVaried, kCounted };

// Floats between 0 and 1, and for integers, as far as 0 may be no count or place, 1.
at::Tensor varied(const at::Tensor& tensor, Values values, at::Generator& generator) {
  if (values == Values::kSame || tensor.is_quantized()) return tensor;
  if (tensor.is_floating_point()) return at::empty_like(tensor).uniform_(0, 1, generator);
  return values == Values::kCounted ? at::ones_like(tensor) : tensor;
}

// Returns nothing if a size is flexible, or if an argument is neither a tensor nor has a default.
std::optional<InputTuple> made_up_inputs(const NormalisedModel& model, const std::vector<TensorType>& types,
                                         Values values) {
  std::vector<at::Tensor> tensors;
  at::Generator generator = at::detail::createCPUGenerator(1);
  for (const TensorType& type : types) {
    const auto tensor = made_up_tensor(type);
    if (!tensor) return std::nullopt;
    tensors.push_back(varied(*tensor, values, generator));
  }
  if (model.arguments.empty()) return InputTuple(tensors.begin(), tensors.end());
  try {
    return assemble(model.arguments, sample_leaves(
                                         model.arguments, [&](size_t i) { return tensors.at(i); }, ""));
  } catch (const ConvertError&) {
    return std::nullopt;
  }
}

// A run may change the module's buffers. Nothing for a module with objects that LibTorch can't copy.
std::optional<torch::jit::Module> copy_of(const torch::jit::Module& module) {
  try {
    return module.deepcopy();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// True for an operator whose library is not loaded, or that a CPU lacks for float16: nothing is known of the model
// then. The interpreter gives its own exceptions, so that the type is lost.
bool lacks_kernel(const std::string& reason) {
  return reason.find("Could not run '") != std::string::npos ||
         reason.find("not implemented for 'Half'") != std::string::npos;
}

// Returns the original's error; empty if the original runs, or if it can't run on this machine.
std::string reason_of_original(const LoadedModel& loaded, const InputTuple& inputs) {
  std::optional<torch::jit::Module> module = copy_of(loaded.module);
  if (!module) return "";
  try {
    const c10::InferenceMode guard;
    module->forward(inputs);
  } catch (const std::exception& error) {
    const std::string reason = torch_reason(error);
    return lacks_kernel(reason) ? "" : reason;
  }
  return "";
}

}  // namespace

void check_original_runs(const LoadedModel& loaded, const NormalisedModel& model, const std::vector<TensorType>& types,
                         const InferredTypes& inferred) {
  if (inferred.failures.empty()) return;
  std::string reason;
  for (const Values values : {Values::kSame, Values::kVaried, Values::kCounted}) {
    const auto inputs = made_up_inputs(model, types, values);
    if (!inputs) return;
    reason = reason_of_original(loaded, *inputs);
    if (reason.empty()) return;
  }
  std::string shapes;
  for (size_t i = 0; i < types.size(); ++i) {
    shapes += fmt::format("{}{} {}", i == 0 ? "" : ", ", model.input_names[i], to_text(types[i]));
  }
  throw OriginalFails(fmt::format("the model itself can't run with {}: {}; PyTorch says: {}; is --input right?", shapes,
                                  inferred.failures[0].message(), reason));
}

}  // namespace nnapi_convert
