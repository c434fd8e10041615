// SPDX-License-Identifier: BSD-3-Clause
// Indices that count an axis: x[arange(n)[:, None], arange(m)] is x[:n, :m]. Masks of attention are made so, and need
// no GATHER, whatever the sizes are.
#pragma once

#include <optional>

#include "lib/ops/indices.h"

namespace nnapi_convert {

// Returns how many elements each index takes of its axis, if each index counts 0, 1 and so on along its own axis of the
// result, and these axes have the order of self's axes; else nothing. PyTorch raises for more elements than the axis
// has.
std::optional<Dims> counted_elements(const OpArguments& args, const std::vector<AxisIndex>& indices);

}  // namespace nnapi_convert
