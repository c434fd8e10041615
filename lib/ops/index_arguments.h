// SPDX-License-Identifier: BSD-3-Clause
// Finds the arguments of operators that are indices, and the sizes that they index.
#pragma once

#include <optional>

#include "lib/ops/integer_range.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

constexpr double kLongestAxis = 1 << 22;  // the assumed value of an unknown size

// Return the value of a size, or of the product of sizes; kLongestAxis if it is unknown.
double count_of(const Dim& size);
double count_of(const Dims& dims);

// Returns the range of valid indices for argument `offset` of the node; nothing if that argument is no index.
std::optional<IntegerRange> index_range(const TorchNode& reader, size_t offset, const TypeMap& types);

// Returns the range of valid indices for one element of a list that is argument `offset`; nothing if it is no index.
std::optional<IntegerRange> index_range_in_list(const TorchNode& reader, size_t offset, size_t element,
                                                const TypeMap& types);

}  // namespace nnapi_convert
