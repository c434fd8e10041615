// SPDX-License-Identifier: BSD-3-Clause
// Lowers operations on integers that NNAPI has for other dtypes only. They run in float32 if the integers are known to
// be small enough; else by other operations that take integers, or on the upper and lower halves of each integer.
#pragma once

#include <string>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

IntegerForms integer_forms();

// Refuses integers that float32 may round, at a feature level that doesn't calculate with integers. `what` names the
// operation, such as "sums".
[[noreturn]] void refuse_large_integers(OpContext& ctx, const std::string& what);

}  // namespace nnapi_convert
