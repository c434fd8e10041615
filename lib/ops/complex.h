// Complex numbers, which NNAPI has no operands for, as pairs of real tensors.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

OpRules complex_rules();

}  // namespace nnapi_convert
