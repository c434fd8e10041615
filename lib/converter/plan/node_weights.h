// SPDX-License-Identifier: BSD-3-Clause
// Reads the sizes of a node's weights, plain or packed.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

namespace nnapi_convert {

// Returns the sizes of a tensor, or of the weight in the parameters of a quantised or prepacked operator; nothing for
// other values.
std::optional<std::vector<int64_t>> weight_sizes(const c10::IValue& value);

// Returns the number of elements of all matrices in a value: tensors of rank 2 and packed weights, alone, in lists or
// in parameters of quantised recurrent cells. Returns nothing if there are none.
std::optional<int64_t> matrix_elements(const c10::IValue& value);

}  // namespace nnapi_convert
