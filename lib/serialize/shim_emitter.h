// Makes the TorchScript module around an NNAPI model for the shim, torch.classes.nnapi_convert.Compilation.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "lib/serialize/emitted_class.h"
#include "lib/serialize/late_tensors.h"
#include "lib/serialize/shim_buffer_writer.h"

namespace nnapi_convert {

// Makes the object that holds a buffer and its weights (nnapi_shim::make_compilation).
using MakeCompilation = c10::IValue (*)(const at::Tensor& words, const at::Tensor& weights);

struct ShimModuleRequest {
  const nnapi::Model& model;
  const ModuleInterface& interface;
  const ShimBuffer& buffer;
  MakeCompilation make_compilation;
  std::optional<torch::jit::Module> cpu;  // what runs where NNAPI can't: a module of the same interface
  const BundledInputs& bundled_inputs;    // may be empty
  ClassPlace place = {};                  // with `cpu`: in its unit
};

// Its weights may be late, and the words' checksums then, too.
torch::jit::Module build_shim_module(const ShimModuleRequest& request, LateTensors& late);
// The source alone, for people.
std::string source_of(const ShimModuleRequest& request);

}  // namespace nnapi_convert
