// Writes the CPU counterpart of a converted model: the original with the converted model's interface and inputs,
// optimised for mobile, so that both can be compared on a phone.
#pragma once

#include <string>

#include "lib/converter/convert.h"

namespace nnapi_convert {

// The module frozen, with weights prepacked for XNNPACK.
torch::jit::Module optimised_for_mobile(const torch::jit::Module& module);

// Throws ConvertError (kBadFile) when the file can't be written.
void emit_cpu(const LoadedModel& loaded, const Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
