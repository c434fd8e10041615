// Sizes of the weights that a node of the graph reads, also of packed ones.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

namespace nnapi_convert {

// Of a tensor, or of the weight in parameters that a quantised or prepacked operator takes. Nothing for other values.
std::optional<std::vector<int64_t>> weight_sizes(const c10::IValue& value);

// Elements of all matrices in a value: of tensors of rank 2 and packed weights, in lists and in parameters of quantised
// recurrent cells too. Nothing where there are none.
std::optional<int64_t> matrix_elements(const c10::IValue& value);

}  // namespace nnapi_convert
