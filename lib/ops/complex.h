// SPDX-License-Identifier: BSD-3-Clause
// Rules for complex tensors: pairs of real tensors stand for them, as NNAPI has no complex operands.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

OpRules complex_rules();

}  // namespace nnapi_convert
