// SPDX-License-Identifier: BSD-3-Clause
// Finds the runtime that a TorchScript module is written for, configures it and reads its state.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_bench {

enum class Runtime { kCpu, kPytorch, kShim };

// Returns "cpu", "pytorch" (torch.classes._nnapi.Compilation) or "shim" (torch.classes.nnapi_convert.Compilation).
const char* name_of(Runtime runtime);

// Returns the runtime, by the types of the attributes of the module and its submodules.
Runtime runtime_of(const torch::jit::Module& module);

struct Device {
  std::string name, version, type;
  int64_t feature_level;  // NNAPI's code: an API level, or 1000005 and more
};

// Loads an NNAPI library for the rest of the process: both runtimes open NNAPI by its name and get this library. An
// empty `path` stands for the project's own NNAPI on a host, if it exists, and for the system's NNAPI on Android.
// Throws ConvertError (kBadFile).
void load_nnapi(const std::string& path);

// Returns NNAPI's devices; empty without NNAPI, or below feature level 3, where NNAPI can't list devices.
std::vector<Device> list_devices();

// The state of a module for the shim after it ran.
struct ShimState {
  std::string state;    // nnapi, cpu or measuring, and the newest reason why NNAPI was not used
  std::string devices;  // the devices that the model was compiled for; empty if NNAPI chose
  std::map<std::string, int64_t> profile;
};
std::optional<ShimState> shim_state(const torch::jit::Module& module);

// Calls the module's nnapi_configure. Throws ConvertError (kUsage) if the module has no options, or not these.
void configure(torch::jit::Module& module, const std::map<std::string, std::string>& options);

}  // namespace nnapi_bench
