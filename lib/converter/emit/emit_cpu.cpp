// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emit_cpu.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/xnnpack_rewrite.h>

#include "lib/converter/frontend/arguments.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/converter/load/newer_branches.h"
#include "lib/serialize/torchscript_emitter.h"

namespace nnapi_convert {
namespace {

// Returns the names of the methods and the attribute of bundled inputs. Freezing keeps them: as constants of a method,
// bundled inputs that are None would lose their type.
std::vector<std::string> names_of_bundled_inputs(const torch::jit::Module& module) {
  std::vector<std::string> names;
  for (const char* name : {"get_all_bundled_inputs", "get_num_bundled_inputs"}) {
    if (module.find_method(name)) names.emplace_back(name);
  }
  if (!names.empty() && module.hasattr("bundled_inputs")) names.emplace_back("bundled_inputs");
  return names;
}

}  // namespace

torch::jit::Module optimised_for_mobile(const torch::jit::Module& module) {
  // Freezing first folds batch norm correctly. The folding in optimizeForMobile of LibTorch 1.13 is wrong for traced
  // convolutions without a bias.
  const std::vector<std::string> kept = names_of_bundled_inputs(module);
  return torch::jit::optimizeForMobile(torch::jit::freeze(module, kept), {}, kept);
}

torch::jit::Module cpu_counterpart(const LoadedModel& loaded, const ModuleInterface& interface,
                                   const BundledInputs& bundled_inputs) {
  raise_for_newer_operators(loaded.module);
  std::vector<std::string> names;
  for (const InterfaceInput& input : interface.inputs) names.push_back(input.name);
  const c10::FunctionSchema& schema = loaded.module.get_method("forward").function().getSchema();
  return build_cpu_module(loaded.module, interface, read_arguments(schema, names, nullptr), bundled_inputs);
}

std::optional<torch::jit::Module> cpu_fallback(const LoadedModel& loaded, const ModuleInterface& interface,
                                               Fallback fallback) {
  if (!embeds_cpu_model(fallback)) return std::nullopt;
  const torch::jit::Module plain = cpu_counterpart(loaded, interface, {});
  return fallback == Fallback::kCpu ? optimised_for_mobile(plain) : plain;
}

void emit_cpu(const LoadedModel& loaded, const Conversion& conversion, const std::string& path) {
  const torch::jit::Module wrapped = cpu_counterpart(loaded, conversion.interface, conversion.bundled_inputs);
  DeferredTensors none;
  write_module(optimised_for_mobile(wrapped), none, path, {});
}

}  // namespace nnapi_convert
