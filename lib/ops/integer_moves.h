// Integers where NNAPI has an operation for other numbers only: it runs on float32 where the integers are known to be
// small enough, else on other operations that move integers, or on their halves.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

IntegerForms integer_forms();

}  // namespace nnapi_convert
