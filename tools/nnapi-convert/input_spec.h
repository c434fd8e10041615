// SPDX-License-Identifier: BSD-3-Clause
// Reads one --input: [NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]]; DIMS is sizes with commas, or "scalar".
#pragma once

#include <string>

#include "lib/types/options.h"

namespace nnapi_convert {

// Text behind a name that has none of ",:?", or begins with a quotation mark or a bracket, may be a value: its fault as
// a tensor is noted in the result, not thrown. For other faults throws ConvertError (kUsage) with the text, the fault
// and an example.
InputSpec parse_input_spec(const std::string& text);

}  // namespace nnapi_convert
