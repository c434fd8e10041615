// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript source of the CPU counterpart: the original model between conversions of dtypes.
#pragma once

#include <string>

#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

constexpr const char* kCpuClass = "CpuModule";

// Returns the source of the class `name`. The class has the attributes training, model and, with bundled inputs,
// bundled_inputs. The tensors in `arguments` are the interface's inputs.
std::string cpu_source(const std::string& name, const std::string& original_class, const ModuleInterface& interface,
                       const ForwardArguments& arguments, bool has_bundled_inputs);

}  // namespace nnapi_convert
