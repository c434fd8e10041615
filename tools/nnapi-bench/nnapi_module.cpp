// SPDX-License-Identifier: BSD-3-Clause
// Inspects modules, and asks NNAPI for its devices.
#include "tools/nnapi-bench/nnapi_module.h"

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/base/input_file.h"
#include "lib/shim/nnapi_shim.h"
#include "tools/nnapi-bench/torch_error.h"

namespace nnapi_bench {
namespace {

using nnapi_convert::ConvertError;
using nnapi_convert::ExitCode;

bool holds(const torch::jit::Module& module, const std::string& class_name) {
  for (const torch::jit::Module& part : module.modules()) {
    for (const c10::ClassAttribute& attribute : part.type()->getAttributes()) {
      if (attribute.getType()->annotation_str().find(class_name) != std::string::npos) return true;
    }
  }
  return false;
}

const char* type_name(int32_t type) {
  switch (type) {
    case 2:
      return "cpu";
    case 3:
      return "gpu";
    case 4:
      return "accelerator";
    default:
      return "other";
  }
}

}  // namespace

const char* name_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::kPytorch:
      return "pytorch";
    case Runtime::kShim:
      return "shim";
    default:
      return "cpu";
  }
}

Runtime runtime_of(const torch::jit::Module& module) {
  if (holds(module, "__torch__.torch.classes.nnapi_convert.Compilation")) return Runtime::kShim;
  if (holds(module, "__torch__.torch.classes._nnapi.Compilation")) return Runtime::kPytorch;
  return Runtime::kCpu;
}

void load_nnapi(const std::string& path) {
  std::string library = path;
#ifndef __ANDROID__
  if (library.empty()) {
    library = nnapi_convert::host_library_path();
    if (!std::filesystem::exists(library)) return;
  }
#endif
  const std::string problem = nnapi_convert::problem_of_library(library);
  const bool is_loaded = problem.empty() && dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr;
  if (library.empty() || is_loaded) return;
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't load the NNAPI library {}: {}", library,
                                                     problem.empty() ? dlerror() : problem.c_str()));
}

std::vector<Device> list_devices() {
  std::vector<Device> devices;
  const auto add = [](void* user, const char* name, const char* version, int32_t type, int64_t level) {
    static_cast<std::vector<Device>*>(user)->push_back({name, version, type_name(type), level});
  };
  nnapi_shim_error error;
  if (nnapi_shim_visit_devices(nullptr, add, &devices, &error) != NNAPI_SHIM_OK) devices.clear();
  return devices;
}

std::optional<ShimState> shim_state(const torch::jit::Module& module) {
  const auto state = module.find_method("nnapi_state");
  const auto profile = module.find_method("nnapi_profile");
  if (!state || !profile || !module.hasattr("comp")) return std::nullopt;
  ShimState result;
  result.state = (*state)({}).toStringRef();
  for (const auto& entry : (*profile)({}).toGenericDict()) {
    result.profile[entry.key().toStringRef()] = entry.value().toInt();
  }
  const c10::IValue compilation = module.attr("comp");
  result.devices = compilation.type()->expectRef<c10::ClassType>().getMethod("devices")({compilation}).toStringRef();
  return result;
}

void configure(torch::jit::Module& module, const std::map<std::string, std::string>& options) {
  if (options.empty()) return;
  const auto method = module.find_method("nnapi_configure");
  if (!method) {
    throw ConvertError(ExitCode::kUsage,
                       "--shim_option: the model is not one for the shim; convert it with --runtime "
                       "shim, or leave the options out");
  }
  c10::Dict<std::string, std::string> values;
  for (const auto& [key, value] : options) values.insert(key, value);
  try {
    (*method)({values});
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--shim_option: {}", message_of(error)));
  }
}

}  // namespace nnapi_bench
