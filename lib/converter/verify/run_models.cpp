// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/run_models.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/converter/graph/deep_copy.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/graph/silenced_warnings.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/newer_operators.h"

namespace nnapi_convert {

void fail_verification(const std::string& message) {
  throw ConvertError(ExitCode::kVerificationFailed, message);
}

Tensors run_module(torch::jit::Module& module, const InputTuple& inputs, const char* which, const std::string& hint) {
  Tensors outputs;
  const SilencedWarnings no_warnings;  // warnings don't belong to the comparison
  try {
    const c10::InferenceMode guard;
    const KernelsAsDefined kernels(saved_graphs(module));
    InputTuple own;
    for (const c10::IValue& input : inputs) own.push_back(deep_copy(input));
    flatten(module.forward(own), outputs);
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    fail_verification(fmt::format("{} doesn't run: {}", which, missing.empty() ? torch_reason(error) + hint : missing));
  }
  return outputs;
}

Tensors run_unconverted(torch::jit::Module& module, const InputTuple& inputs, const char* which,
                        const std::string& hint) {
  try {
    return run_module(module, inputs, which, hint);
  } catch (const ConvertError&) {
    const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
    return run_module(module, inputs, which, hint);
  }
}

std::optional<Tensors> run_if_possible(torch::jit::Module& module, const InputTuple& inputs) {
  try {
    return run_unconverted(module, inputs, "the original");
  } catch (const ConvertError&) {
    return std::nullopt;
  }
}

void check_same_outputs(const Tensors& original, const Tensors& converted) {
  if (original.size() != converted.size()) {
    fail_verification(fmt::format("the original gives {} and the converted model {}",
                                  counted(original.size(), "tensor"), converted.size()));
  }
  for (size_t i = 0; i < original.size(); ++i) {
    if (original[i].sizes() == converted[i].sizes()) continue;
    fail_verification(fmt::format("output {}: shape [{}] found, [{}] needed", i, fmt::join(converted[i].sizes(), ", "),
                                  fmt::join(original[i].sizes(), ", ")));
  }
}

void check_same_dtypes(const Tensors& original, const Tensors& converted) {
  for (size_t i = 0; i < original.size(); ++i) {
    const at::ScalarType needed = original[i].scalar_type(), found = converted[i].scalar_type();
    if (needed == found || original[i].is_quantized() || converted[i].is_quantized()) continue;
    fail_verification(fmt::format("output {}: dtype {} found, {} needed", i, dtype_name(found), dtype_name(needed)));
  }
}

bool are_finite(const Tensors& results) {
  return std::all_of(results.begin(), results.end(), [](const at::Tensor& tensor) {
    return !tensor.is_floating_point() || tensor.isfinite().all().item().toBool();
  });
}

}  // namespace nnapi_convert
