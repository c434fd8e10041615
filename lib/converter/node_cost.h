// What a node costs that may have no lowering.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Nothing for what isn't known.
using SizesOfValue = std::function<std::optional<std::vector<int64_t>>(const TorchValue*)>;

// Its multiply-adds: 0 for what is no convolution, product or recurrent layer; nothing where sizes that matter aren't
// known, or for a kind that isn't counted.
std::optional<int64_t> macs_of(const TorchNode& node, const SizesOfValue& sizes_of);

}  // namespace nnapi_convert
