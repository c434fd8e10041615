// SPDX-License-Identifier: BSD-3-Clause
// Shared by the formulas of losses.
#pragma once

#include "lib/ops/formulas.h"

namespace nnapi_convert {

// Returns the losses, their mean or their sum, by the argument `reduction`.
at::Tensor reduced(const FormulaArguments& args, const at::Tensor& loss);

}  // namespace nnapi_convert
