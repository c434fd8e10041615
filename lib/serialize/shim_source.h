// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript source of a module for the shim (torch.classes.nnapi_convert.Compilation of lib/shim).
#pragma once

#include <string>

#include "lib/nnapi/model.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

constexpr const char* kShimCompilationClass = "__torch__.torch.classes.nnapi_convert.Compilation";

struct ShimSourceRequest {
  const nnapi::Model& model;
  const ModuleInterface& interface;
  std::string cpu_class;     // qualified name of the CPU counterpart's class; empty: no fallback
  std::string bundled_type;  // TorchScript type of one bundled input tuple; empty: none
  std::string class_name = kWrapperClass;
};

// Returns the source. The class has the attributes training, comp and, as needed, cpu, constant_<n> (output n) and
// bundled_inputs. comp comes before all other attributes that hold tensors, so its weights are the archive's first
// record. The class has the methods forward, nnapi_configure, nnapi_warm_up, nnapi_state and nnapi_profile.
std::string shim_source(const ShimSourceRequest& request);

}  // namespace nnapi_convert
