// Writes the TorchScript module around an NNAPI model, for torch.classes._nnapi.Compilation of stock PyTorch.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

// Builds the module: the source compiled, the buffer and the evaluated weights as attributes. `bundled_inputs` has
// tuples of the types of forward's arguments; it may be empty.
torch::jit::Module build_module(const nnapi::Model& model, const SerializedModel& serialized,
                                const ModuleInterface& interface, PreferenceCode preference, bool relax_fp16,
                                const std::vector<std::vector<c10::IValue>>& bundled_inputs);

// Builds the CPU counterpart: `original`, whose forward has the interface's inputs and outputs in their original
// dtypes, between steps that bring them to the interface's dtypes.
torch::jit::Module build_cpu_module(const torch::jit::Module& original, const ModuleInterface& interface,
                                    const std::vector<std::vector<c10::IValue>>& bundled_inputs);

// Writes the archive, for the lite interpreter if the path ends in ".ptl", with `metadata` as an extra file. The
// archive's root folder is the file's stem. Throws ConvertError (kBadFile). The path is overwritten: give a temporary
// one.
void write_module(const torch::jit::Module& module, const std::string& path, const std::string& metadata);

}  // namespace nnapi_convert
