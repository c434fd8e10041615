// Guesses how many rows a tensor will have, from what bounds them: for estimates of cost only.
#pragma once

#include <optional>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {

// The first size of `value` (or the number it is), as slices, topk and known sizes on the way to it bound it; nothing
// where none does.
std::optional<int64_t> bound_of_rows(const TorchValue* value, const TypeMap& types, const RuntimeSizeList& sizes);

}  // namespace nnapi_convert
