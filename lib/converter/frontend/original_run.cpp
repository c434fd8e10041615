// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/original_run.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lib/base/size_hint.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/torch_error.h"

namespace nnapi_convert {
namespace {

// The values of made-up inputs: their first values, or floats between 0 and 1 and, if given, this integer.
struct Values {
  bool is_varied = false;
  std::optional<int64_t> integer;
};

bool is_integer(at::ScalarType dtype) {
  return dtype == at::kInt || dtype == at::kLong;
}

// Returns values with other integers, too: 1, as 0 may be no count or place, and each size, as an argument of lengths
// has to hold that of another argument.
std::vector<Values> values_to_try(const std::vector<TensorType>& types) {
  const bool has_integers =
      std::any_of(types.begin(), types.end(), [](const TensorType& type) { return is_integer(type.dtype); });
  std::set<int64_t> integers = {1};
  for (const TensorType& type : types) {
    for (const Dim& dim : type.dims) {
      if (has_integers && dim.is_fixed()) integers.insert(dim.value());
    }
  }
  std::vector<Values> all = {{false, std::nullopt}, {true, std::nullopt}};
  for (const int64_t integer : integers) all.push_back({true, integer});
  return all;
}

at::Tensor varied(const at::Tensor& tensor, const Values& values, at::Generator& generator) {
  if (!values.is_varied || tensor.is_quantized()) return tensor;
  if (tensor.is_floating_point()) return at::empty_like(tensor).uniform_(0, 1, generator);
  if (!values.integer) return tensor;
  return is_integer(tensor.scalar_type()) ? at::full_like(tensor, *values.integer) : at::ones_like(tensor);
}

// Returns made-up inputs; nothing if a size is flexible, or if an argument is neither a tensor nor has a default.
std::optional<InputTuple> made_up_inputs(const NormalisedModel& model, const std::vector<TensorType>& types,
                                         const Values& values) {
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

// Returns a copy to run, as a run may change the module's buffers. Nothing for a module with objects that LibTorch
// can't copy.
std::optional<torch::jit::Module> copy_of(const torch::jit::Module& module) {
  try {
    return deep_copy(module);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// True if the error is of an operator whose library is not loaded, or that a CPU lacks for float16: nothing is known of
// the model then. Reads the text, as the interpreter throws exceptions of its own type.
bool lacks_kernel(const std::string& reason) {
  return reason.find("Could not run '") != std::string::npos ||
         reason.find("not implemented for 'Half'") != std::string::npos;
}

// True for a model that optimize_for_mobile packed. XNNPACK checks no sizes: it reads what lies behind its input.
bool is_packed(const torch::jit::Module& module) {
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  bool is_packed = false;
  for_each_node(*graph, [&](const torch::jit::Node& node) {
    is_packed = is_packed || node.kind().ns().toUnqualString() == std::string("prepacked");
  });
  return is_packed;
}

// Returns the original's error; empty if the original runs, or if it can't run on this machine. A packed model is run
// with PyTorch's own operators, as the converted one is.
std::string reason_of_original(const LoadedModel& loaded, const torch::jit::Module& frozen, const InputTuple& inputs) {
  std::optional<torch::jit::Module> module = copy_of(is_packed(loaded.module) ? frozen : loaded.module);
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

// Moves the channels of an input from the last axis to the second. If the original runs then, returns what --input has
// to say; else an empty text.
std::string channels_second(const LoadedModel& loaded, const NormalisedModel& model, std::vector<TensorType> types,
                            size_t number) {
  static const std::map<size_t, const char*> kOrders = {{3, "N,C,L"}, {4, "N,C,H,W"}, {5, "N,C,D,H,W"}};
  Dims& dims = types[number].dims;
  const auto order = kOrders.find(dims.size());
  if (order == kOrders.end()) return "";
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  const auto inputs = made_up_inputs(model, types, {true, 1});
  if (!inputs || !reason_of_original(loaded, model.frozen, *inputs).empty()) return "";
  return fmt::format("--input takes sizes in the order {}, with --nhwc, too: --input {}={}", order->second,
                     model.input_names[number], fmt::join(fixed_values(dims), ","));
}

// Returns advice about the sizes of --input.
std::string advice(const LoadedModel& loaded, const NormalisedModel& model, const std::vector<TensorType>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string order = channels_second(loaded, model, types, i);
    if (!order.empty()) return order;
  }
  return "is --input right?";
}

// Says once what fails. A rule that says which size is needed says what PyTorch says, too, and needs no repetition of
// the shapes that the user gave.
std::string failure_text(Refusal failure, const std::vector<TensorType>& types, const std::string& reason) {
  const bool names_size = failure.hint == kSeeInput && !failure.needed.empty();
  if (!names_size) return fmt::format("{}; PyTorch says: {}", failure.message(), reason);
  failure.hint.clear();
  const bool is_given = std::any_of(types.begin(), types.end(), [&](const TensorType& type) {
    return failure.found == fmt::format("an input {}", to_text(type));
  });
  if (!is_given) return failure.message();
  return fmt::format("{}{}{}: {} needed", failure.where, failure.where.empty() ? "" : ": ", failure.op, failure.needed);
}

}  // namespace

void check_original_runs(const LoadedModel& loaded, const NormalisedModel& model, const std::vector<TensorType>& types,
                         const InferredTypes& inferred) {
  if (inferred.failures.empty()) return;
  std::string reason;
  for (const Values& values : values_to_try(types)) {
    const auto inputs = made_up_inputs(model, types, values);
    if (!inputs) return;
    reason = reason_of_original(loaded, model.frozen, *inputs);
    if (reason.empty()) return;
  }
  std::string shapes;
  for (size_t i = 0; i < types.size(); ++i) {
    shapes += fmt::format("{}{} {}", i == 0 ? "" : ", ", model.input_names[i], to_text(types[i]));
  }
  throw OriginalFails(fmt::format("the model itself can't run with {}: {}; {}", shapes,
                                  failure_text(inferred.failures[0], types, reason), advice(loaded, model, types)));
}

}  // namespace nnapi_convert
