// Types the results of operators whose sizes are sums of multiples of their inputs' sizes, by evaluating them at a few
// numbers for each size that isn't known.
#pragma once

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The types of what the node gives; nothing for operators that aren't known to be of that kind, where an input's type
// isn't known, or where the sizes found are not such sums.
std::optional<std::vector<ValueType>> linear_types(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
