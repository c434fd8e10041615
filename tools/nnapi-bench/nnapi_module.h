// A TorchScript module on its way to NNAPI: which runtime it is written for, and what that runtime tells.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_bench {

enum class Runtime { kCpu, kPytorch, kShim };

// "cpu", "pytorch" (torch.classes._nnapi.Compilation) or "shim" (torch.classes.nnapi_convert.Compilation).
const char* name_of(Runtime runtime);

// By the types of the module's attributes, and those of its submodules.
Runtime runtime_of(const torch::jit::Module& module);

struct Device {
  std::string name, version, type;
  int64_t feature_level;  // as NNAPI says it: an API level, or 1000005 and more
};

// Loads a library for the rest of the process: both runtimes open NNAPI by its name and get this one. Empty: on a host
// the project's own NNAPI, if it is there; on Android nothing, as the system has it. Throws ConvertError (kBadFile).
void load_nnapi(const std::string& path);

// NNAPI's devices; empty where there is no NNAPI, or none that can be asked (feature level below 3).
std::vector<Device> list_devices();

// What a module for the shim tells after it ran.
struct ShimState {
  std::string state;    // nnapi, cpu or measuring, and the newest reason why NNAPI was not used
  std::string devices;  // that the model was compiled for; empty where NNAPI chose
  std::map<std::string, int64_t> profile;
};
std::optional<ShimState> shim_state(const torch::jit::Module& module);

// nnapi_configure. Throws ConvertError (kUsage) for a module that has no options, or not these.
void configure(torch::jit::Module& module, const std::map<std::string, std::string>& options);

}  // namespace nnapi_bench
