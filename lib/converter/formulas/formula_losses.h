// What the formulas of losses share.
#pragma once

#include "lib/converter/formulas/formulas.h"

namespace nnapi_convert {

// The losses themselves, their mean or their sum, as the argument `reduction` says.
at::Tensor reduced(const FormulaArguments& args, const at::Tensor& loss);

}  // namespace nnapi_convert
