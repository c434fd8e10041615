// SPDX-License-Identifier: BSD-3-Clause
// Counts the multiply-adds of a node of the graph; the node needs no lowering.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lib/base/count.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

enum class CostKind {
  kNone,     // the operator has no multiply-adds
  kProduct,  // it is a convolution, matrix product, attention or recurrent layer
  kUnknown,  // the operator is unknown, or its cost is not counted in multiply-adds
};

CostKind cost_kind(const TorchNode& node);

// Returns the sizes of a value; nothing if they are unknown.
using SizesOfValue = std::function<std::optional<std::vector<int64_t>>(const TorchValue*)>;

// Returns the node's multiply-adds: 0 for kNone; unknown for kUnknown, and if a size or weight that they depend on is
// unknown.
Count macs_of(const TorchNode& node, const SizesOfValue& sizes_of);

}  // namespace nnapi_convert
