// SPDX-License-Identifier: BSD-3-Clause
// Estimates how many rows a tensor will have, from the operators that bound the number. Only estimates of cost use it.
#pragma once

#include <optional>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

// Returns an upper bound of the first size of `value`, or of `value` itself if it is a number. Slices, topk and known
// sizes before it give the bound; returns nothing if there are none.
std::optional<int64_t> bound_of_rows(const TorchValue* value, const TypeMap& types, const RuntimeSizeList& sizes);

}  // namespace nnapi_convert
