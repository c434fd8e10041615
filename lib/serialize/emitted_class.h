// SPDX-License-Identifier: BSD-3-Clause
// Makes the parts that all emitted modules have: a class compiled from source, and attributes for bundled inputs and
// constant outputs.
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

// The place of a module's class: its name in our namespace, and its compilation unit, which may hold classes that the
// source names (null: a new unit).
struct ClassPlace {
  std::string name = kWrapperClass;
  std::shared_ptr<torch::jit::CompilationUnit> unit = nullptr;
};

// Returns `name`, with a number behind it if the unit has a class of that name in our namespace already.
std::string free_class_name(const torch::jit::CompilationUnit& unit, const std::string& name);

// Each entry is one set of forward's arguments.
using BundledInputs = std::vector<std::vector<c10::IValue>>;

// Compiles the class that `text` (in the dialect of TorchScript archives) defines, at `place`. Returns an object of the
// class without attribute values.
torch::jit::Module make_object(const std::string& text, const ClassPlace& place);

// Makes the types of NamedTuples in the tree known to the unit at `place`, which `make_object` needs to name them.
// Makes the unit if it is null.
void add_named_types(const ReturnTree& tree, ClassPlace& place);
// Makes the types of NamedTuples in the arguments known to the unit.
void add_named_types(const ForwardArguments& arguments, torch::jit::CompilationUnit& unit);

// Returns a sample in less memory: if all elements are equal, the copy keeps only one of them.
at::Tensor compact_sample(const at::Tensor& tensor);
// Returns the TorchScript type of one bundled tuple of forward's arguments; empty without bundled inputs.
std::string bundled_type(const BundledInputs& bundled_inputs, const ModuleInterface& interface);
// Sets the attribute bundled_inputs if there are any.
void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs,
                        const ModuleInterface& interface);
// Sets the attribute bundled_inputs for arguments of forward that may be no tensors.
void set_bundled_inputs(torch::jit::Module& module, const BundledInputs& bundled_inputs,
                        const ForwardArguments& arguments);
// Sets the types and the default values of forward's arguments.
void set_defaults(const torch::jit::Module& module, const ForwardArguments& arguments);
// Sets the attributes constant_<n>, the constant outputs.
void set_constant_outputs(torch::jit::Module& module, const ModuleInterface& interface);

// Returns the words as an int32 tensor.
at::Tensor words_tensor(const std::vector<int32_t>& words);

}  // namespace nnapi_convert
