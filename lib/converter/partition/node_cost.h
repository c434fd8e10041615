// What a node costs that may have no lowering.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lib/base/count.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

enum class CostKind {
  kNone,     // it has no multiply-adds: it is no convolution, product of matrices, attention or recurrent layer
  kProduct,  // it has
  kUnknown,  // nothing is known of what the operator does, or its cost isn't counted in multiply-adds
};

CostKind cost_kind(const TorchNode& node);

// Nothing for what isn't known.
using SizesOfValue = std::function<std::optional<std::vector<int64_t>>(const TorchValue*)>;

// Its multiply-adds: 0 for a kind without; unknown for an unknown kind, and where sizes or weights that matter aren't
// known.
Count macs_of(const TorchNode& node, const SizesOfValue& sizes_of);

}  // namespace nnapi_convert
