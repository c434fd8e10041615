// SPDX-License-Identifier: BSD-3-Clause
// Reads one --input: [NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]]; DIMS is sizes with commas, or "scalar".
#pragma once

#include <string>

#include "lib/types/options.h"

namespace nnapi_convert {

// Text behind a name that has none of ",:?" or is in quotation marks may be a value: a fault of it as a tensor is noted
// in the result, not thrown. For other faults throws ConvertError (kUsage) with the text, the fault and an example.
InputSpec parse_input_spec(const std::string& text);

}  // namespace nnapi_convert
