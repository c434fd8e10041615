// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript module around an NNAPI model, for torch.classes._nnapi.Compilation of stock PyTorch.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "lib/serialize/deferred_tensors.h"
#include "lib/serialize/emitted_class.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

struct ModuleRequest {
  const nnapi::Model& model;
  const SerializedModel& serialized;
  const ModuleInterface& interface;
  PreferenceCode preference;
  bool relax_fp16;
  const BundledInputs& bundled_inputs;  // may be empty
  ClassPlace place;
  bool shares_weights = false;  // shares weights with other modules that have equal ones
};

// Builds the module: compiles the source, and sets the buffer and the weights, some of them late, as attributes.
torch::jit::Module build_module(const ModuleRequest& request, DeferredTensors& late);
// Returns only the source, for people.
std::string source_of(const ModuleRequest& request);

// Builds the CPU counterpart of the converted module: `original` between conversions from and to the interface's
// dtypes. forward of `original` has the interface's inputs and outputs in their original dtypes. The interface's inputs
// are the tensors in `arguments`.
torch::jit::Module build_cpu_module(const torch::jit::Module& original, const ModuleInterface& interface,
                                    const ForwardArguments& arguments, const BundledInputs& bundled_inputs);

}  // namespace nnapi_convert
