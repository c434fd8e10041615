// SPDX-License-Identifier: BSD-3-Clause
// Joins the sizes that an exported program states with those that --input gives.
#pragma once

#include <vector>

#include "lib/converter/load/load.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct StatedInputs {
  std::vector<InputSpec> tensors;
  std::vector<BoundArgument> numbers;  // values that follow from sizes, of integers that are not bound
};

// Returns the inputs that the program states, with the sizes that --input gives, and those that follow from them and
// from bound integers: sizes and integers of one symbol depend on each other. Inputs whose values are bound are left
// out. Throws ConvertError (kUsage) for a size, dtype or integer that the program doesn't take.
StatedInputs with_stated(const std::vector<InputSpec>& given, const LoadedModel& loaded);

}  // namespace nnapi_convert
