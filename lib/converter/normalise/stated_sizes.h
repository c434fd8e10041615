// Joins the sizes that an exported program states with those that --input gives.
#pragma once

#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/options/options.h"

namespace nnapi_convert {

// Returns the inputs that the program states, with the sizes that --input gives, and those that follow from them: sizes
// of one symbol depend on each other. Inputs whose values are bound are left out. Throws ConvertError (kUsage) for a
// size or dtype that the program doesn't take.
std::vector<InputSpec> with_stated(const std::vector<InputSpec>& given, const std::vector<ExportedTensor>& stated,
                                   const BoundValues& bound);

}  // namespace nnapi_convert
