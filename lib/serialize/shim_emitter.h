// Makes the TorchScript module around an NNAPI model for the shim, torch.classes.nnapi_convert.Compilation.
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
  std::shared_ptr<ShimBuffer> buffer;  // its weights are released when they are written
  MakeCompilation make_compilation;
  std::optional<torch::jit::Module> cpu;  // a module of the same interface that runs if NNAPI can't
  const BundledInputs& bundled_inputs;    // may be empty
  ClassPlace place = {};                  // with `cpu`: in the unit of `cpu`
};

// Builds the module. Its weights may be late; then the words' checksums are late, too.
torch::jit::Module build_shim_module(const ShimModuleRequest& request, DeferredTensors& late);
// Returns only the source, for people.
std::string source_of(const ShimModuleRequest& request);

// Makes `module`, which build_shim_module() made around one buffer of the package, use the whole package.
void set_package(torch::jit::Module& module, PackageBuffer package, MakeCompilation make_compilation,
                 DeferredTensors& late);

}  // namespace nnapi_convert
