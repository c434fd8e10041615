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

// True if the node reads a tensor or number with a size that is open, and doesn't depend on values.
bool reads_open_size(const TorchNode& node, const TypeMap& types);

// Returns the types of the results of any operator whose sizes don't depend on values: the results that PyTorch gives
// at a few numbers for each open size decide. Sizes that are no such sums of the model's may be sums of those that the
// node reads, as of rows times columns.
std::optional<std::vector<ValueType>> types_by_trials(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
