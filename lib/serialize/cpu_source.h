// The TorchScript source of the CPU counterpart: the original model between steps that change dtypes.
#pragma once

#include <string>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

constexpr const char* kCpuClass = "CpuModule";

// The class has the attributes training, model and, with a `bundled_type`, bundled_inputs.
std::string cpu_source(const std::string& original_class, const ModuleInterface& interface,
                       const std::string& bundled_type);

}  // namespace nnapi_convert
