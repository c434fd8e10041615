// What all emitted modules have in common: a class compiled from source, and attributes for bundled inputs and constant
// outputs.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

// Where a module's class is defined: by which name in our namespace, and in which unit, which may hold classes that it
// names (null: one of its own).
struct ClassPlace {
  std::string name = kWrapperClass;
  std::shared_ptr<torch::jit::CompilationUnit> unit = nullptr;
};

// A tuple of the types of forward's arguments each.
using BundledInputs = std::vector<std::vector<c10::IValue>>;

// An object of the class that `text` (in the dialect of TorchScript archives) defines at `place`, without attributes
// yet.
torch::jit::Module make_object(const std::string& text, const ClassPlace& place);

// A sample in little space: one whose elements are all equal keeps one of them.
at::Tensor compact_sample(const at::Tensor& tensor);
// The TorchScript type of one bundled tuple; empty without bundled inputs.
std::string bundled_type(const BundledInputs& bundled_inputs);
// Sets the attribute bundled_inputs where there are any.
void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs);
// The same where forward's arguments may be no tensors.
void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs,
                        const ForwardArguments& arguments);
// Sets the attributes constant_<n>.
void set_constant_outputs(torch::jit::Module& module, const ModuleInterface& interface);

// A tensor of words, of type int32.
at::Tensor words_tensor(const std::vector<int32_t>& words);

}  // namespace nnapi_convert
