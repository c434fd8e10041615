// SPDX-License-Identifier: BSD-3-Clause
// Makes the CPU counterpart of a converted model: the original with the converted model's interface. It is the fallback
// inside of a file, or, with the same inputs in a file of its own, what the converted model is compared with on a
// phone.
#pragma once

#include <optional>
#include <string>

#include "lib/converter/emit/conversion.h"
#include "lib/serialize/emitted_class.h"

namespace nnapi_convert {

// Returns the module frozen, with weights prepacked for XNNPACK.
torch::jit::Module optimised_for_mobile(const torch::jit::Module& module);

// Returns a module that converts its arguments from the interface's dtypes, runs the original, and converts the results
// to the interface's dtypes.
torch::jit::Module cpu_counterpart(const LoadedModel& loaded, const ModuleInterface& interface,
                                   const BundledInputs& bundled_inputs);

// Returns the counterpart that a file with this fallback holds, if any.
std::optional<torch::jit::Module> cpu_fallback(const LoadedModel& loaded, const ModuleInterface& interface,
                                               Fallback fallback);

// Writes the CPU counterpart to `path`. Throws ConvertError (kBadFile) if the file can't be written.
void emit_cpu(const LoadedModel& loaded, const Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
