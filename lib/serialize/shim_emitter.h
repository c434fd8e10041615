// SPDX-License-Identifier: BSD-3-Clause
// Makes the TorchScript module around an NNAPI model, or a package of several, for the shim,
// torch.classes.nnapi_convert.Compilation.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>

#include "lib/serialize/deferred_tensors.h"
#include "lib/serialize/emitted_class.h"
#include "lib/serialize/package_writer.h"
#include "lib/serialize/shim_buffer_writer.h"

namespace nnapi_convert {

// The function that makes the object for a buffer and its weights (nnapi_shim::make_compilation).
using MakeCompilation = c10::IValue (*)(const at::Tensor& words, const at::Tensor& weights);

struct ShimModuleRequest {
  const nnapi::Model& model;
  const ModuleInterface& interface;
  MakeCompilation make_compilation;
  std::optional<torch::jit::Module> cpu;  // a module of the same interface that runs if NNAPI can't
  const BundledInputs& bundled_inputs;    // may be empty
  ClassPlace place = {};                  // with `cpu`: in the unit of `cpu`, under a name that is free there
};

// Builds the module. Its weights may be late; then the words' checksums are late, too. The buffer's weights are
// released when they are written.
torch::jit::Module build_shim_module(const ShimModuleRequest& request, const std::shared_ptr<ShimBuffer>& buffer,
                                     DeferredTensors& late);
// Builds the module around a package. The request has the model that the module's callers see.
torch::jit::Module build_package_module(const ShimModuleRequest& request, PackageBuffer package, DeferredTensors& late);
// Builds a module with the same forward around a compilation that exists already, without the CPU model: the part that
// a runtime without PyTorch runs.
torch::jit::Module build_without_cpu(const nnapi::Model& model, const ModuleInterface& interface,
                                     const c10::IValue& compilation);
// Returns only the source, for people.
std::string source_of(const ShimModuleRequest& request);

}  // namespace nnapi_convert
