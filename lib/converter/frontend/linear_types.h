// SPDX-License-Identifier: BSD-3-Clause
// Types the results of operators whose sizes are sums of multiples of their inputs' sizes, by evaluating them at a few
// numbers for each size that isn't known.
#pragma once

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the types of the node's results. Returns nothing if the operator is not known to have such sizes, if the type
// of an input is unknown, or if the sizes found are not such sums.
std::optional<std::vector<ValueType>> linear_types(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
