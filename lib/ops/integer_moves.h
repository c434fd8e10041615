// SPDX-License-Identifier: BSD-3-Clause
// Lowers operations on integers that NNAPI has for other dtypes only. They run in float32 if the integers are known to
// be small enough; else by other operations that take integers, or on the upper and lower halves of each integer.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

IntegerForms integer_forms();

}  // namespace nnapi_convert
