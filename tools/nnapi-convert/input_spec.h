// Reads one --input: [NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]]; DIMS is sizes with commas, or "scalar".
#pragma once

#include <string>

#include "lib/converter/options/options.h"

namespace nnapi_convert {

// What stands behind a name and has none of ",:?", or is in quotation marks, may be a value: what is wrong with it for
// a tensor is noted, not thrown. Throws ConvertError (kUsage) with the text, what is wrong in it and an example.
InputSpec parse_input_spec(const std::string& text);

}  // namespace nnapi_convert
