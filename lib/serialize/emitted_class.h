// What all emitted modules have in common: a class compiled from source, and attributes for bundled inputs and constant
// outputs.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// A tuple of the types of forward's arguments each.
using BundledInputs = std::vector<std::vector<c10::IValue>>;

// An object of a class that `text` (in the dialect of TorchScript archives) defines in our namespace, without
// attributes yet. The unit may hold classes that the source names.
torch::jit::Module make_object(const std::string& text, const char* class_name,
                               const std::shared_ptr<torch::jit::CompilationUnit>& unit);

// The TorchScript type of one bundled tuple; empty without bundled inputs.
std::string bundled_type(const BundledInputs& bundled_inputs);
// Sets the attribute bundled_inputs where there are any.
void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs);
// Sets the attributes constant_<n>.
void set_constant_outputs(torch::jit::Module& module, const ModuleInterface& interface);

// A tensor of words, of type int32.
at::Tensor words_tensor(const std::vector<int32_t>& words);

}  // namespace nnapi_convert
