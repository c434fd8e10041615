// Writes the CPU counterpart of a converted model: the original with the converted model's interface and inputs,
// optimised for mobile, so that both can be compared on a phone.
#pragma once

#include <string>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

// The module frozen, with weights prepacked for XNNPACK.
torch::jit::Module optimised_for_mobile(const torch::jit::Module& module);

// The original between steps that bring its arguments and results from and to the interface's dtypes.
torch::jit::Module cpu_counterpart(const LoadedModel& loaded, const ModuleInterface& interface,
                                   const BundledInputs& bundled_inputs);

// Throws ConvertError (kBadFile) when the file can't be written.
void emit_cpu(const LoadedModel& loaded, const Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
